'use strict';
// Gate of a warm interpreter: waits before the script of a hook starts.
//
// Node loads it with `--require`. It waits for one control message on standard input, applies it and removes every trace of
// itself. Node then loads the script as always. The hook's payload follows the control message on the same pipe, so the gate
// reads exactly the bytes of the message.

const { isMainThread } = require('node:worker_threads');

const option = process.execArgv.indexOf(__filename);
if (option > 0) process.execArgv.splice(option - 1, 2);
delete require.cache[__filename];

// Threads of the script load the gate as well.
if (isMainThread) {
    const fs = require('node:fs');
    for (const name of ['child_process', 'crypto', 'events', 'os', 'path', 'readline', 'stream', 'url', 'util', 'net', 'tty']) {
        require(`node:${name}`);
    }

    const read = (length) => {
        const buffer = Buffer.alloc(length);
        let start = 0;
        while (start < length) {
            const count = fs.readSync(0, buffer, start, length - start, null);
            // The process that started this one has ended.
            if (count === 0) process.reallyExit(0);
            start += count;
        }
        return buffer;
    };

    try {
        const message = JSON.parse(read(read(4).readUInt32LE(0)).toString('utf8'));
        process.chdir(message.cwd);
        process.umask(message.umask);
        for (const name of Object.keys(process.env)) delete process.env[name];
        for (const [name, value] of message.env) process.env[name] = value;
    } catch {
        // Nothing of the script has run. The hook fails.
        process.kill(process.pid, 'SIGKILL');
    }
}
