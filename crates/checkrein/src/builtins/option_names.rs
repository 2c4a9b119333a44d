//! Spellings of the options of well-known programs. Facts use the table, so that a rule can test any spelling of an option.
//!
//! A row is a program, or a program and its subcommand. Options are separated by blanks, and the spellings of one option by `|`.
//! `=` behind an option means that it takes a value. `?` means that a value can only be in the same word.

/// Rows with the names of programs, separated by commas.
const TABLE: &[(&str, &str)] = &[
    (
        "git",
        "-C= -c= --git-dir= --work-tree= --namespace= --config-env= --exec-path? -p|--paginate -P|--no-pager --bare \
         --no-replace-objects --literal-pathspecs --no-optional-locks -h|--help -v|--version",
    ),
    (
        "git push",
        "-f|--force --force-with-lease? --force-if-includes -d|--delete -n|--dry-run -u|--set-upstream -q|--quiet -v|--verbose \
         --all|--branches --mirror --tags --follow-tags --no-verify --verify --atomic --prune --porcelain --signed? --thin --progress \
         -o|--push-option= --repo= --receive-pack|--exec= --recurse-submodules? -4|--ipv4 -6|--ipv6",
    ),
    (
        "git commit",
        "-m|--message= -F|--file= -C|--reuse-message= -c|--reedit-message= --fixup= --squash= --author= --date= -t|--template= \
         --cleanup= --trailer= --pathspec-from-file= -a|--all -p|--patch -n|--no-verify --verify --amend -s|--signoff \
         -S|--gpg-sign? --no-gpg-sign --allow-empty --allow-empty-message --no-edit -e|--edit -q|--quiet -v|--verbose -i|--include \
         -o|--only -u|--untracked-files? --dry-run --reset-author --no-post-rewrite --status --short --branch --porcelain --long \
         -z|--null",
    ),
    (
        "git branch",
        "-d|--delete -D -m|--move -M -c|--copy -C -f|--force -r|--remotes -a|--all -l|--list -v|--verbose -q|--quiet -t|--track? \
         --no-track -u|--set-upstream-to= --unset-upstream --show-current --merged? --no-merged? --contains? --no-contains? \
         --points-at= --sort= --format= --edit-description -i|--ignore-case --column? --color?",
    ),
    (
        "git reset",
        "--hard --soft --mixed --merge --keep -q|--quiet -p|--patch -N|--intent-to-add --pathspec-from-file= --refresh --no-refresh",
    ),
    ("git clean", "-f|--force -d -x -X -n|--dry-run -i|--interactive -q|--quiet -e|--exclude="),
    (
        "git checkout",
        "-b= -B= --orphan= -f|--force -q|--quiet -p|--patch -m|--merge -t|--track? -d|--detach --ours --theirs --conflict= -l \
         --no-track --guess --no-guess --progress --overlay --no-overlay --ignore-skip-worktree-bits --ignore-other-worktrees \
         --recurse-submodules? --pathspec-from-file=",
    ),
    (
        "git switch",
        "-c|--create= -C|--force-create= --orphan= -d|--detach -f|--force|--discard-changes -m|--merge -q|--quiet -t|--track? \
         --no-track --guess --no-guess --conflict= --ignore-other-worktrees --recurse-submodules?",
    ),
    (
        "git restore",
        "-s|--source= -S|--staged -W|--worktree -p|--patch -q|--quiet -m|--merge --ours --theirs --conflict= --overlay \
         --no-overlay --ignore-unmerged --pathspec-from-file=",
    ),
    (
        "git stash",
        "-m|--message= -k|--keep-index -u|--include-untracked -a|--all -p|--patch -S|--staged -q|--quiet --index \
         --pathspec-from-file=",
    ),
    (
        "git rebase",
        "-i|--interactive --onto= -x|--exec= -s|--strategy= -X|--strategy-option= -f|--force-rebase|--no-ff --continue --abort \
         --skip --quit --root --autosquash --no-autosquash --autostash --no-autostash --no-verify --verify -q|--quiet -v|--verbose \
         -r|--rebase-merges? -m|--merge --keep-empty --empty= --update-refs -S|--gpg-sign? --signoff --edit-todo",
    ),
    (
        "git merge",
        "-m|--message= -F|--file= -s|--strategy= -X|--strategy-option= --no-ff --ff --ff-only --squash --no-commit --commit --abort \
         --continue --quit -n|--no-stat --stat --no-verify --verify -e|--edit --no-edit -q|--quiet -v|--verbose --autostash \
         --allow-unrelated-histories -S|--gpg-sign? --signoff",
    ),
    (
        "git tag",
        "-d|--delete -f|--force -a|--annotate -s|--sign -u|--local-user= -m|--message= -F|--file= -l|--list -v|--verify -n? \
         --sort= --format= --contains? --merged? --points-at= --cleanup= -e|--edit",
    ),
    (
        "git pull",
        "-r|--rebase? --no-rebase --ff-only --no-ff --ff --squash -q|--quiet -v|--verbose -f|--force -s|--strategy= \
         -X|--strategy-option= --autostash --depth= -p|--prune -t|--tags -a|--append -j|--jobs= --no-verify \
         --allow-unrelated-histories",
    ),
    (
        "git fetch",
        "-f|--force -p|--prune -P|--prune-tags -t|--tags -n|--no-tags --all -a|--append --depth= --deepen= --unshallow -j|--jobs= \
         -u|--update-head-ok -q|--quiet -v|--verbose --dry-run -k|--keep --recurse-submodules? --refmap= -o|--server-option=",
    ),
    (
        "git clone",
        "-b|--branch= --depth= -o|--origin= -u|--upload-pack= --reference= --separate-git-dir= -c|--config= -j|--jobs= --filter= \
         --shallow-since= -q|--quiet -v|--verbose -n|--no-checkout --bare --mirror -l|--local -s|--shared --recurse-submodules? \
         --single-branch --no-tags",
    ),
    (
        "git add",
        "-A|--all -f|--force -n|--dry-run -v|--verbose -p|--patch -i|--interactive -u|--update -N|--intent-to-add -e|--edit",
    ),
    ("git rm", "-r -f|--force -n|--dry-run -q|--quiet --cached --ignore-unmatch --sparse --pathspec-from-file="),
    ("git mv", "-f|--force -k -n|--dry-run -v|--verbose"),
    ("git worktree", "-f|--force -b= -B= -d|--detach --lock --reason= --expire= -n|--dry-run -v|--verbose --porcelain"),
    (
        "git submodule",
        "-f|--force --all --init --recursive --remote -b|--branch= --name= --depth= -j|--jobs= -q|--quiet",
    ),
    (
        "git config",
        "-f|--file= --global --system --local --worktree --unset --unset-all --add --get --get-all -l|--list -e|--edit --type=",
    ),
    ("git remote", "-v|--verbose -f -t= -m= --add --delete --push --all"),
    (
        "git log,git diff,git show",
        "-p|--patch -n|--max-count= --since= --until= --author= --grep= -S= -G= --format? --pretty? --stat? --oneline -q|--quiet -U|--unified= -O=",
    ),
    (
        "git filter-branch",
        "-f|--force --tree-filter= --index-filter= --msg-filter= --env-filter= --commit-filter= --tag-name-filter= -d=",
    ),
    ("git gc", "--aggressive --auto --prune? --no-prune -q|--quiet --force --keep-largest-pack"),
    (
        "git reflog",
        "--expire= --expire-unreachable= --all --updateref --rewrite --stale-fix -n|--dry-run --verbose --single-worktree",
    ),
    ("git update-ref", "-d -m= --no-deref --create-reflog --stdin -z"),
    (
        "git am",
        "-3|--3way -n|--no-verify -s|--signoff -k|--keep -q|--quiet --abort --skip --continue --quit -C= -p= --directory=",
    ),
    (
        "git cherry-pick,git revert",
        "-n|--no-commit -e|--edit --no-edit -m|--mainline= -x -s|--signoff --abort --continue --skip --quit -X|--strategy-option= --strategy= -S|--gpg-sign?",
    ),
    (
        "rm",
        "-r|-R|--recursive -f|--force -i -I --interactive? -d|--dir -v|--verbose --no-preserve-root --preserve-root? --one-file-system",
    ),
    ("rmdir", "-p|--parents -v|--verbose --ignore-fail-on-non-empty"),
    (
        "cp",
        "-r|-R|--recursive -f|--force -i|--interactive -n|--no-clobber -a|--archive -p --preserve? -d -L|--dereference \
         -P|--no-dereference -l|--link -s|--symbolic-link -u|--update? -v|--verbose -x|--one-file-system -t|--target-directory= \
         -T|--no-target-directory -S|--suffix= -b --backup? --parents --reflink? --sparse= --strip-trailing-slashes \
         --remove-destination --attributes-only",
    ),
    (
        "mv",
        "-f|--force -i|--interactive -n|--no-clobber -u|--update? -v|--verbose -t|--target-directory= -T|--no-target-directory \
         -S|--suffix= -b --backup? --strip-trailing-slashes",
    ),
    (
        "ln",
        "-s|--symbolic -f|--force -i|--interactive -n|--no-dereference -r|--relative -v|--verbose -L|--logical -P|--physical -t|--target-directory= -T|--no-target-directory -S|--suffix= -b --backup?",
    ),
    (
        "install",
        "-d|--directory -m|--mode= -o|--owner= -g|--group= -t|--target-directory= -T|--no-target-directory -D -p|--preserve-timestamps -s|--strip -v|--verbose -S|--suffix= -b --backup?",
    ),
    (
        "chmod,chown,chgrp",
        "-R|--recursive -v|--verbose -c|--changes -f|--silent|--quiet --reference= --preserve-root --no-preserve-root -h|--no-dereference --dereference --from= -H -L -P",
    ),
    ("mkdir", "-p|--parents -m|--mode= -v|--verbose"),
    ("touch", "-a -c|--no-create -d|--date= -m -r|--reference= -t= -h|--no-dereference"),
    (
        "ls",
        "-a|--all -A|--almost-all -l -R|--recursive -h|--human-readable -r|--reverse -t -S -1 -d|--directory -i|--inode -I|--ignore= -w|--width= --color? --sort= --time= -F|--classify? -s|--size -n|--numeric-uid-gid -G|--no-group",
    ),
    (
        "cat",
        "-n|--number -b|--number-nonblank -E|--show-ends -A|--show-all -v|--show-nonprinting -T|--show-tabs -s|--squeeze-blank -e -t",
    ),
    (
        "head,tail",
        "-n|--lines= -c|--bytes= -q|--quiet|--silent -v|--verbose -f -F --follow? --pid= -s|--sleep-interval= --retry -z|--zero-terminated",
    ),
    ("tee", "-a|--append -i|--ignore-interrupts -p --output-error?"),
    ("truncate", "-s|--size= -c|--no-create -o|--io-blocks -r|--reference="),
    ("shred", "-u --remove? -n|--iterations= -z|--zero -f|--force -v|--verbose -s|--size= -x|--exact --random-source="),
    (
        "du,df",
        "-h|--human-readable -s|--summarize -a|--all -d|--max-depth= -c|--total -k -m -x|--one-file-system --exclude= -t|--type= -B|--block-size=",
    ),
    (
        "grep,egrep,fgrep",
        "-r|--recursive -R|--dereference-recursive -i|--ignore-case -n|--line-number -v|--invert-match -l|--files-with-matches \
         -L|--files-without-match -c|--count -o|--only-matching -w|--word-regexp -x|--line-regexp -E|--extended-regexp \
         -F|--fixed-strings -P|--perl-regexp -G|--basic-regexp -q|--quiet|--silent -s|--no-messages -H|--with-filename \
         -h|--no-filename -e|--regexp= -f|--file= -A|--after-context= -B|--before-context= -C|--context= -m|--max-count= --include= \
         --exclude= --exclude-dir= --color? -a|--text -I -z|--null-data -Z|--null -d|--directories= -D|--devices= --binary-files=",
    ),
    (
        "rg",
        "-i|--ignore-case -S|--smart-case -s|--case-sensitive -n|--line-number -N|--no-line-number -v|--invert-match \
         -l|--files-with-matches -c|--count -o|--only-matching -w|--word-regexp -F|--fixed-strings -P|--pcre2 -q|--quiet -e|--regexp= \
         -f|--file= -g|--glob= -t|--type= -T|--type-not= -A|--after-context= -B|--before-context= -C|--context= -m|--max-count= \
         -r|--replace= -u|--unrestricted -uu -U|--multiline -j|--threads= --hidden --no-ignore --files --pre= --iglob= --max-depth=",
    ),
    (
        "sed,gsed",
        "-i|--in-place? -e|--expression= -f|--file= -n|--quiet|--silent -E|-r|--regexp-extended -s|--separate -z|--null-data -l|--line-length= -u|--unbuffered --posix --follow-symlinks --debug --sandbox",
    ),
    ("awk,gawk", "-F|--field-separator= -v|--assign= -f|--file= -i|--include= -e|--source= --csv"),
    (
        "sort",
        "-o|--output= -k|--key= -t|--field-separator= -S|--buffer-size= -T|--temporary-directory= -n|--numeric-sort -r|--reverse -u|--unique -h|--human-numeric-sort -V|--version-sort -f|--ignore-case -b|--ignore-leading-blanks -s|--stable -z|--zero-terminated -c|--check? --parallel=",
    ),
    (
        "cut",
        "-d|--delimiter= -f|--fields= -c|--characters= -b|--bytes= -s|--only-delimited --output-delimiter= --complement",
    ),
    (
        "xargs",
        "-0|--null -n|--max-args= -P|--max-procs= -I= -i? -L|--max-lines= -d|--delimiter= -a|--arg-file= -r|--no-run-if-empty -t|--verbose -p|--interactive -s|--max-chars= -x|--exit -E= --replace?",
    ),
    (
        "curl",
        "-o|--output= -O|--remote-name -L|--location -s|--silent -S|--show-error -f|--fail -k|--insecure -v|--verbose -i|--include \
         -I|--head -g|--globoff -G|--get -J|--remote-header-name -n|--netrc -N|--no-buffer -p|--proxytunnel -q|--disable -R|--remote-time \
         -a|--append -j|--junk-session-cookies -l|--list-only -M|--manual -Z|--parallel -#|--progress-bar -0|--http1.0 -4|--ipv4 \
         -6|--ipv6 -X|--request= -d|--data= --data-raw= --data-binary= --data-ascii= --data-urlencode= --json= -F|--form= \
         --form-string= -T|--upload-file= -H|--header= -A|--user-agent= -e|--referer= -u|--user= -U|--proxy-user= -b|--cookie= \
         -c|--cookie-jar= -x|--proxy= -K|--config= -D|--dump-header= -E|--cert= --key= --cacert= --capath= -m|--max-time= \
         --connect-timeout= --retry= --retry-delay= --retry-max-time= -r|--range= -C|--continue-at= -w|--write-out= -y|--speed-time= \
         -Y|--speed-limit= -z|--time-cond= -t|--telnet-option= -P|--ftp-port= -Q|--quote= -B|--use-ascii --url= --resolve= \
         --connect-to= --interface= --output-dir= --create-dirs --unix-socket= --oauth2-bearer= --aws-sigv4= --max-redirs= --proto= \
         --tlsv1.2 --compressed --fail-with-body --location-trusted --netrc-file= --trace= --trace-ascii= --stderr= --limit-rate= \
         --socks5= --socks5-hostname= --noproxy= --post301 --etag-save= --etag-compare= --hsts= --libcurl= --next --doh-url=",
    ),
    (
        "wget",
        "-O|--output-document= -o|--output-file= -a|--append-output= -P|--directory-prefix= -i|--input-file= -q|--quiet -v|--verbose \
         -nv|--no-verbose -c|--continue -r|--recursive -l|--level= -np|--no-parent -N|--timestamping -k|--convert-links \
         -p|--page-requisites -m|--mirror -A|--accept= -R|--reject= -t|--tries= -T|--timeout= -w|--wait= -U|--user-agent= --header= \
         --post-data= --post-file= --body-data= --body-file= --method= --user= --password= --load-cookies= --save-cookies= \
         --no-check-certificate -e|--execute= -B|--base= -Q|--quota= -D|--domains= -I|--include-directories= -X|--exclude-directories= \
         -S|--server-response --spider -b|--background -x|--force-directories -nc|--no-clobber -nd|--no-directories --referer=",
    ),
    (
        "ssh,autossh",
        "-i= -p= -l= -o= -F= -L= -R= -D= -J= -b= -B= -c= -E= -e= -I= -m= -O= -Q= -S= -W= -w= -A -a -C -f -G -g -K -k -M -N -n -q -s \
         -T -t -V -v -X -x -Y -y -4 -6",
    ),
    ("scp,sftp", "-i= -P= -l= -o= -F= -J= -c= -S= -D= -X= -b= -B -C -p -q -r -R -3 -4 -6 -T -v -O -A -a -f -N"),
    (
        "rsync",
        "-a|--archive -r|--recursive -v|--verbose -q|--quiet -n|--dry-run -z|--compress -u|--update -l|--links -L|--copy-links -p|--perms \
         -t|--times -g|--group -o|--owner -D -H|--hard-links -A|--acls -X|--xattrs -x|--one-file-system -c|--checksum -R|--relative \
         -P --progress --partial -e|--rsh= -f|--filter= -B|--block-size= -T|--temp-dir= -M|--remote-option= --delete \
         --delete-before --delete-during|--del --delete-after --delete-excluded --delete-delay --force --remove-source-files \
         --exclude= --include= --exclude-from= --include-from= --files-from= --log-file= --backup-dir= -b|--backup --suffix= \
         --partial-dir= --rsync-path= --bwlimit= --chmod= --chown= --compare-dest= --copy-dest= --link-dest= -h|--human-readable \
         -i|--itemize-changes --stats --password-file= --port= --timeout= -W|--whole-file -I|--ignore-times --inplace",
    ),
    (
        "tar,gtar,bsdtar",
        "-c|--create -x|--extract|--get -t|--list -r|--append -u|--update -A|--catenate|--concatenate -d|--diff|--compare --delete \
         -f|--file= -C|--directory= -v|--verbose -z|--gzip|--gunzip -j|--bzip2 -J|--xz --zstd -a|--auto-compress -p|--preserve-permissions \
         -P|--absolute-names -k|--keep-old-files -T|--files-from= -X|--exclude-from= --exclude= --strip-components= --transform|--xform= \
         --overwrite -O|--to-stdout -h|--dereference -I|--use-compress-program= --to-command= --checkpoint? --checkpoint-action= \
         -g|--listed-incremental= -b|--blocking-factor= -H|--format= -N|--newer|--after-date= -V|--label= -K|--starting-file= \
         --owner= --group= --mode= --remove-files --wildcards --one-top-level?",
    ),
    ("unzip", "-o -n -q -d= -l -x= -j -p -P= -t -v -u -f"),
    (
        "zip",
        "-r|--recurse-paths -q|--quiet -m|--move -d|--delete -u|--update -j|--junk-paths -e|--encrypt -P= -x|--exclude= -i|--include= -9 -0 -y|--symlinks -T|--test -TT=",
    ),
    ("dd", "--help --version"),
    (
        "docker,podman,nerdctl",
        "-H|--host= -c|--context= -D|--debug -l|--log-level= --config= --tls --tlsverify -v|--version",
    ),
    (
        "docker run,docker create,docker container run,docker container create,podman run,podman create,nerdctl run",
        "-d|--detach -i|--interactive -t|--tty --rm -v|--volume= -p|--publish= -P|--publish-all -e|--env= --env-file= -u|--user= \
         -w|--workdir= --name= --network|--net= --entrypoint= --mount= -l|--label= -h|--hostname= -m|--memory= --cpus= \
         -c|--cpu-shares= -a|--attach= --platform= --restart= --add-host= --device= --privileged --cap-add= --cap-drop= \
         --security-opt= --pid= --ipc= --userns= --uts= --cgroupns= --pull= -q|--quiet --tmpfs= --shm-size= --ulimit= --gpus= --dns= \
         --cidfile= --log-driver= --log-opt= --volumes-from= --group-add= --runtime= --read-only --init --ip= --expose= --link= \
         --health-cmd= --stop-signal= --sysctl=",
    ),
    (
        "docker exec,docker container exec,podman exec,nerdctl exec",
        "-d|--detach -i|--interactive -t|--tty -e|--env= --env-file= -u|--user= -w|--workdir= --privileged --detach-keys= -l|--latest",
    ),
    ("docker rm,docker container rm,podman rm", "-f|--force -v|--volumes -l|--link -a|--all -i|--ignore -t|--time="),
    ("docker rmi,docker image rm,podman rmi", "-f|--force --no-prune -a|--all -i|--ignore"),
    (
        "docker system prune,docker image prune,docker container prune,docker volume prune,docker network prune,docker builder prune,podman system prune",
        "-f|--force -a|--all --volumes --filter= --keep-storage=",
    ),
    ("docker volume rm,docker network rm", "-f|--force"),
    (
        "docker ps,docker images,docker container ls,docker image ls,podman ps",
        "-a|--all -q|--quiet -f|--filter= -n|--last= -l|--latest -s|--size --format= --no-trunc",
    ),
    (
        "docker build,docker buildx build,docker image build,podman build,nerdctl build",
        "-t|--tag= -f|--file= --build-arg= --target= --no-cache --pull --push --load --platform= -o|--output= --secret= --ssh= --cache-from= --cache-to= --network= --label= -q|--quiet --progress= --build-context=",
    ),
    (
        "docker compose,docker-compose,podman-compose",
        "-f|--file= -p|--project-name= --project-directory= --profile= --env-file= --ansi= --progress= --parallel= --dry-run",
    ),
    ("docker compose down,docker-compose down", "-v|--volumes --rmi= --remove-orphans -t|--timeout="),
    (
        "docker compose up,docker-compose up",
        "-d|--detach --build --force-recreate --no-deps --remove-orphans --scale= -t|--timeout= -V|--renew-anon-volumes --pull= --wait --no-recreate --abort-on-container-exit --exit-code-from=",
    ),
    ("docker compose rm,docker-compose rm", "-f|--force -s|--stop -v|--volumes"),
    (
        "docker compose exec,docker-compose exec,docker compose run,docker-compose run",
        "-d|--detach -T|--no-TTY -e|--env= -u|--user= -w|--workdir= --index= --rm --privileged --entrypoint= -v|--volume= -p|--publish= --name= --no-deps --service-ports",
    ),
    ("docker push,docker pull", "-a|--all-tags -q|--quiet --disable-content-trust --platform="),
    ("docker login", "-u|--username= -p|--password= --password-stdin"),
    ("docker logs", "-f|--follow -n|--tail= -t|--timestamps --since= --until= --details"),
    (
        "kubectl,oc",
        "-n|--namespace= -A|--all-namespaces -o|--output= -f|--filename= -k|--kustomize= -l|--selector= -c|--container= -R|--recursive \
         --all --force --grace-period= --dry-run? --cascade? --now --wait? --timeout= --context= --cluster= --kubeconfig= -s|--server= \
         --user= --token= --as= --as-group= --field-selector= -w|--watch -i|--stdin -t|--tty --image= --replicas= --server-side \
         --prune --ignore-not-found -v|--v= -L|--label-columns= --sort-by= --overwrite --from-literal= --from-file= -p|--patch= \
         --type= --tail= --since= --previous --port= --target-port= --to-revision= --delete-emptydir-data --ignore-daemonsets \
         --disable-eviction --restart= --rm --env= --command --raw= -q|--quiet --subresource= --address=",
    ),
    (
        "helm",
        "-n|--namespace= --kube-context= --kubeconfig= -f|--values= --set= --set-string= --set-file= --set-json= --version= --repo= \
         -i|--install --create-namespace --atomic --wait --timeout= --dry-run? --force --reuse-values --reset-values --cleanup-on-fail \
         --no-hooks --keep-history --cascade= -o|--output= -A|--all-namespaces -a|--all -q|--short -d|--destination= \
         --description= --post-renderer= -u|--dependency-update --debug --devel --disable-openapi-validation --history-max=",
    ),
    (
        "npm",
        "-g|--global -D|--save-dev -S|--save -O|--save-optional -P|--save-prod -E|--save-exact -B|--save-bundle --no-save -f|--force \
         -w|--workspace= --workspaces -C|--prefix= --registry= --tag= --otp= --location= --access= --omit= --include= --legacy-peer-deps \
         --ignore-scripts --dry-run -y|--yes -s|--silent -d -q|--quiet --loglevel= --userconfig= --globalconfig= --cache= \
         --script-shell= --node-options= --if-present --json -l|--long -p|--parseable --package-lock-only --no-audit --no-fund \
         --production --depth= --audit-level= -ws --engine-strict --unsafe-perm",
    ),
    (
        "pnpm",
        "-g|--global -D|--save-dev -P|--save-prod -O|--save-optional -E|--save-exact -C|--dir= -F|--filter= -w|--workspace-root \
         -r|--recursive --frozen-lockfile --no-frozen-lockfile --force --ignore-scripts --prod --dev --offline --registry= --loglevel= \
         --reporter= --store-dir= --tag= --access= --otp= --dry-run --no-git-checks --publish-branch= -s|--silent --filter-prod=",
    ),
    (
        "yarn",
        "-D|--dev -P|--peer -O|--optional -E|--exact -T|--tilde -W|--ignore-workspace-root-check --frozen-lockfile --immutable --force \
         --ignore-scripts --production? --cwd= --cache-folder= --modules-folder= --registry= --silent --tag= --access= --otp= \
         --new-version= --mode= -A|--all -R|--recursive -v|--version --offline",
    ),
    (
        "bun",
        "-g|--global -d|-D|--dev --optional --exact -E --production -p --frozen-lockfile --no-save --force -f --cwd= -c|--config= --registry= --ignore-scripts --dry-run --no-cache -y|--yes --trust --filter= --watch --hot --env-file=",
    ),
    ("npx,pnpx,bunx", "-y|--yes --no -p|--package= -c|--call= -w|--workspace= -q|--quiet --ignore-existing"),
    (
        "pip,pip3",
        "-r|--requirement= -c|--constraint= -e|--editable= -U|--upgrade -t|--target= -i|--index-url= --extra-index-url= \
         -f|--find-links= --no-index --user --pre --no-deps --force-reinstall -I|--ignore-installed --break-system-packages \
         --root= --prefix= --src= --platform= --python-version= --only-binary= --no-binary= --trusted-host= --proxy= --cache-dir= \
         --no-cache-dir --dry-run -q|--quiet -v|--verbose -y|--yes --require-hashes --no-build-isolation --python= --log= --retries= \
         --timeout= --cert= --client-cert= --config-settings= --report= --upgrade-strategy= -d|--dest= --exists-action= \
         --global-option= --keyring-provider= --isolated -o|--outdated --format=",
    ),
    (
        "pipx",
        "--python= --pip-args= --index-url|-i= -e|--editable -f|--force --global --suffix= --include-deps --spec= --verbose -q|--quiet",
    ),
    (
        "uv",
        "--directory= --project= --config-file= --cache-dir= --color= -p|--python= -r|--requirements|--requirement= -c|--constraints|--constraint= \
         -e|--editable= -i|--index-url= --index= --extra-index-url= --default-index= -f|--find-links= --dev -U|--upgrade \
         -P|--upgrade-package= --reinstall --system --break-system-packages --target= --prefix= --group= --extra= --optional= --with= \
         --from= --frozen --locked --no-sync --no-cache|-n -q|--quiet -v|--verbose --package= -m|--module= -s|--script --isolated \
         --all-extras --no-dev --raw-sources --tag= --branch= --rev= --force",
    ),
    (
        "poetry",
        "-C|--directory= -P|--project= -G|--group= -D|--dev -E|--extras= --optional --python= --platform= --source= --allow-prereleases --dry-run --lock --with= --without= --only= --sync --no-root -n|--no-interaction -q|--quiet -v|--verbose -e|--editable",
    ),
    (
        "pipenv",
        "-d|--dev --python= -r|--requirements= -e|--editable= --system --deploy --pre --skip-lock -i|--index= --clear -v|--verbose",
    ),
    (
        "conda,mamba,micromamba",
        "-n|--name= -p|--prefix= -c|--channel= -y|--yes -f|--file= --override-channels --force --force-reinstall --no-deps --dry-run -d --all|-a --update-all --json -q|--quiet -v|--verbose",
    ),
    (
        "cargo",
        "-C= -Z= --config= --color= --manifest-path= -p|--package= --workspace --all --features|-F= --all-features --no-default-features \
         --target= --target-dir= --profile= -r|--release -j|--jobs= --bin= --example= --test= --bench= --lib --bins --tests --all-targets \
         -q|--quiet -v|--verbose --locked --offline --frozen --git= --branch= --tag= --rev= --path= --registry= --index= --version|--vers= \
         --root= -f|--force --dev --build --optional --rename= --allow-dirty --no-verify --token= --dry-run -n --yank --undo --doc --open \
         --fix --message-format= --exclude= --keep-going --no-deps",
    ),
    (
        "go",
        "-C= -v -x -n -a -race -u -t -d -o= -tags= -ldflags= -gcflags= -mod= -run= -count= -timeout= -cover -coverprofile= -json -bench= -modcache -cache -testcache -i -r",
    ),
    (
        "gem",
        "-v|--version= -i|--install-dir= -n|--bindir= -N|--no-document -f|--force -l|--local -r|--remote -P|--trust-policy= -s|--source= --clear-sources --user-install -a|--all -x|--executables -I|--ignore-dependencies --pre --platform= -k|--key= --host= --otp= -q|--quiet -V|--verbose --conservative -g|--file?",
    ),
    (
        "bundle",
        "--gemfile= --path= --without= --with= -j|--jobs= --retry= --deployment --frozen --local --full-index --force --system --all --clean --group= -v|--version= --source= --git= --branch= --skip-install --conservative",
    ),
    (
        "composer",
        "-d|--working-dir= --dev --no-dev -n|--no-interaction -W|--with-all-dependencies -w|--with-dependencies --prefer-source --prefer-dist --no-scripts --no-plugins -o|--optimize-autoloader --ignore-platform-reqs --ignore-platform-req= --dry-run -q|--quiet -v|--verbose -a|--classmap-authoritative",
    ),
    (
        "apt,apt-get,aptitude",
        "-y|--yes|--assume-yes -q|--quiet -s|--simulate|--just-print|--dry-run|--recon|--no-act -f|--fix-broken -m|--ignore-missing \
         -d|--download-only -u|--show-upgraded -V|--verbose-versions -o|--option= -c|--config-file= -t|--target-release|--default-release= \
         -a|--host-architecture= --no-install-recommends --install-recommends --reinstall --purge --auto-remove|--autoremove \
         --allow-unauthenticated --allow-downgrades --allow-remove-essential --force-yes --only-upgrade --no-upgrade",
    ),
    (
        "dnf,yum,microdnf",
        "-y|--assumeyes -q|--quiet -v|--verbose -c|--config= -x|--exclude= --installroot= --releasever= --enablerepo= --disablerepo= --repo= --nogpgcheck --best --allowerasing --refresh -C|--cacheonly --downloadonly --assumeno",
    ),
    (
        "zypper",
        "-n|--non-interactive -q|--quiet -y|--no-confirm -R|--root= -f|--force -t|--type= -r|--repo= --no-gpg-checks --from= -l|--auto-agree-with-licenses",
    ),
    (
        "apk",
        "-U|--update-cache -u|--upgrade -t|--virtual= -X|--repository= -p|--root= --no-cache -f|--force -q|--quiet -v|--verbose -i|--interactive --allow-untrusted",
    ),
    (
        "pacman,yay,paru",
        "-S|--sync -R|--remove -Q|--query -U|--upgrade -D|--database -F|--files -T|--deptest -y|--refresh -u|--sysupgrade -s|--search \
         -c|--clean -n|--nosave -d|--nodeps -i|--info -l|--list -q|--quiet -w|--downloadonly -b|--dbpath= -r|--root= --config= --noconfirm \
         --needed --asdeps --overwrite= --cascade --ignore= --cachedir=",
    ),
    (
        "brew",
        "--cask|--casks --formula|--formulae -f|--force -n|--dry-run -v|--verbose -q|--quiet -d|--debug --HEAD -s|--build-from-source --zap --ignore-dependencies --prune= --overwrite --appdir= --greedy -g",
    ),
    ("snap", "--classic --devmode --dangerous --channel= --edge --beta --candidate --revision= --purge --jailmode"),
    ("flatpak", "-y|--assumeyes --user --system -u --noninteractive --delete-data --unused --arch= --from"),
    (
        "dpkg",
        "-i|--install -r|--remove -P|--purge -l|--list -L|--listfiles -S|--search -s|--status --configure --unpack --force-all --force-depends --root= -a|--pending",
    ),
    (
        "rpm",
        "-i|--install -U|--upgrade -F|--freshen -e|--erase -q|--query -V|--verify -a|--all -v|--verbose -h|--hash --force --nodeps --nosignature --root= --import",
    ),
    (
        "gh",
        "-R|--repo= --hostname= -f|--field= -F|--raw-field= -X|--method= -H|--header= -q|--jq= -t|--template= --json= -b|--body= \
         --title= -B|--base= -l|--label= -a|--assignee= -r|--reviewer= -m|--merge -s|--squash --rebase -d|--delete-branch --admin --auto \
         --web|-w -L|--limit= -S|--state= -n|--notes= --notes-file= --target= --tag= -p|--prerelease --draft --generate-notes --yes \
         --public --private --internal --visibility= --body-file= --input= --paginate --silent -i|--include --cleanup-tag --clobber \
         -D|--dir= -e|--env= -o|--org= -u|--user --desc= --filename= --remote= --source= --push --clone --team= --confirm --latest \
         --author= --reason= -c|--comment=",
    ),
    (
        "gh api",
        "-f|--raw-field= -F|--field= -X|--method= -H|--header= -q|--jq= -t|--template= --input= --paginate --silent -i|--include --hostname= --cache= -p|--preview= --verbose --slurp",
    ),
    ("gh gist create", "-d|--desc= -f|--filename= -p|--public -w|--web"),
    (
        "gh pr create",
        "-t|--title= -b|--body= -F|--body-file= -B|--base= -H|--head= -d|--draft -f|--fill -l|--label= -a|--assignee= -r|--reviewer= -m|--milestone= -p|--project= -w|--web -R|--repo= --dry-run --no-maintainer-edit -T|--template=",
    ),
    (
        "gh pr merge",
        "-m|--merge -s|--squash -r|--rebase -d|--delete-branch --admin --auto --disable-auto -b|--body= -F|--body-file= -t|--subject= -R|--repo= --match-head-commit= -A|--author-email=",
    ),
    (
        "psql",
        "-c|--command= -f|--file= -d|--dbname= -h|--host= -p|--port= -U|--username= -W|--password -w|--no-password -v|--set|--variable= \
         -o|--output= -L|--log-file= -F|--field-separator= -R|--record-separator= -P|--pset= -T|--table-attr= -A|--no-align -t|--tuples-only \
         -q|--quiet -x|--expanded -X|--no-psqlrc -1|--single-transaction -a|--echo-all -e|--echo-queries -l|--list -n|--no-readline \
         -s|--single-step -S|--single-line -0|--record-separator-zero -z|--field-separator-zero -H|--html -b|--echo-errors --csv",
    ),
    (
        "mysql,mariadb",
        "-e|--execute= -h|--host= -P|--port= -u|--user= -p|--password? -D|--database= -S|--socket= -N|--skip-column-names -B|--batch -s|--silent \
         -f|--force -v|--verbose -r|--raw -t|--table -A|--no-auto-rehash -q|--quick --defaults-file= --defaults-extra-file= \
         --init-command= --default-character-set= --protocol= --ssl-mode= --delimiter=",
    ),
    (
        "mysqldump,mysqladmin",
        "-h|--host= -P|--port= -u|--user= -p|--password? -S|--socket= -f|--force -r|--result-file= -w|--where= -B|--databases -A|--all-databases --defaults-file= --ignore-table=",
    ),
    (
        "pg_dump,pg_dumpall,pg_restore,createdb,dropdb,createuser,dropuser,vacuumdb",
        "-h|--host= -p|--port= -U|--username= -d|--dbname= -f|--file= -F|--format= -t|--table= -n|--schema= -W|--password -w|--no-password -c|--clean -C|--create -a|--data-only -s|--schema-only -j|--jobs= -v|--verbose -O|--no-owner -x|--no-privileges -T|--exclude-table= -N|--exclude-schema= -e|--echo -i|--interactive --force --if-exists",
    ),
    (
        "sqlite3",
        "-cmd= -separator= -init= -newline= -nullvalue= -vfs= -mmap= -header -csv -json -column -line -list -readonly -batch -bail -echo -html -interactive -safe -table -box -markdown -quote -tabs -ascii",
    ),
    ("duckdb", "-c= -s= -cmd= -init= -readonly -json -csv -markdown -box -line -list -batch -bail -unsigned"),
    (
        "mongosh,mongo",
        "--eval= -f|--file= --host= --port= -u|--username= -p|--password= --authenticationDatabase= --authenticationMechanism= --quiet --norc --shell --nodb --tls --tlsCAFile= --json?",
    ),
    (
        "redis-cli,valkey-cli",
        "-h= -p= -s= -a|--pass= --user= -u= -r= -i= -n= -d= -D= -x -c -e -2 -3 --raw --no-raw --csv --json --tls --cacert= --cert= --key= --scan --pattern= --eval= --pipe --bigkeys --stat --latency --rdb= --no-auth-warning --cluster=",
    ),
    (
        "clickhouse-client,clickhouse-local,clickhouse",
        "-q|--query= -h|--host= --port= -u|--user= --password= -d|--database= -f|--format= -m|--multiline -n|--multiquery --queries-file= -t|--time",
    ),
    ("sqlcmd", "-S= -U= -P= -d= -Q= -q= -i= -o= -E -C -b -N -l= -t= -h= -s= -W -v="),
    ("cqlsh", "-e|--execute= -f|--file= -u|--username= -p|--password= -k|--keyspace= --ssl --request-timeout="),
    (
        "snowsql",
        "-q|--query= -f|--filename= -a|--accountname= -u|--username= -d|--dbname= -s|--schemaname= -w|--warehouse= -r|--rolename= -c|--connection= -o|--options=",
    ),
    ("usql", "-c|--command= -f|--file= -o|--out= -v|--set= -w|--no-password -q|--quiet"),
    ("trino,presto", "--execute= -f|--file= --server= --catalog= --schema= --user= --output-format="),
    ("wrangler", "--command= --file= --env= -c|--config= --remote --local --json -y|--yes"),
    ("cockroach", "-e|--execute= --url= --host= -d|--database= -u|--user= --certs-dir= --insecure -f|--file="),
    (
        "systemctl",
        "-f|--force --now --user --system -q|--quiet -H|--host= -M|--machine= -t|--type= -p|--property= -P= -s|--signal= -n|--lines= -o|--output= \
         --root= --job-mode= --kill-whom= --state= -a|--all -r|--recursive -l|--full --no-block --no-pager --no-reload --runtime -i --no-wall",
    ),
    (
        "journalctl",
        "-u|--unit= -f|--follow -n|--lines? -r|--reverse -o|--output= -b|--boot? -k|--dmesg -p|--priority= -S|--since= -U|--until= -x|--catalog -e|--pager-end -q|--quiet -t|--identifier= -g|--grep= -D|--directory= --vacuum-size= --vacuum-time= --vacuum-files= --rotate --flush --no-pager --user -a|--all",
    ),
    (
        "sudo",
        "-u|--user= -g|--group= -p|--prompt= -C|--close-from= -T|--command-timeout= -D|--chdir= -R|--chroot= -r|--role= -t|--type= -U|--other-user= -h|--host= -A|--askpass -b|--background -B|--bell -E|--preserve-env? -e|--edit -H|--set-home -i|--login -K|--remove-timestamp -k|--reset-timestamp -l|--list -n|--non-interactive -P|--preserve-groups -S|--stdin -s|--shell -v|--validate -V|--version",
    ),
    ("doas", "-u= -C= -L -n -s -a="),
    (
        "su,runuser",
        "-c|--command= -s|--shell= -g|--group= -G|--supp-group= -u|--user= -w|--whitelist-environment= -l|--login -m|-p|--preserve-environment -f|--fast -P|--pty",
    ),
    ("env", "-i|--ignore-environment -u|--unset= -C|--chdir= -S|--split-string= -0|--null -v|--debug"),
    ("timeout", "-k|--kill-after= -s|--signal= -v|--verbose --preserve-status --foreground"),
    ("nice", "-n|--adjustment="),
    ("kill", "-s|--signal= -n= -l|--list? -L|--table -q|--queue="),
    (
        "pkill,pgrep,killall",
        "-f|--full -s|--signal= -u|--euid|--user= -U|--uid= -g|--pgroup= -G|--group= -P|--parent= -t|--terminal= -x|--exact -n|--newest -o|--oldest -v|--inverse -i|--ignore-case -e|--echo -q|--quiet -r|--regexp -w|--wait -I -y|--younger-than= -F|--pidfile= -a|--list-full -l|--list-name -c|--count",
    ),
    ("crontab", "-u= -l -r|--remove -e -i -s"),
    (
        "useradd,usermod,userdel,groupadd,groupdel,adduser,deluser",
        "-r|--remove|--system -f|--force -m|--create-home -d|--home|--home-dir= -s|--shell= -g|--gid= -G|--groups= -a|--append -u|--uid= -p|--password= -L|--lock -U|--unlock -c|--comment= -e|--expiredate= -D|--defaults",
    ),
    (
        "mount,umount",
        "-t|--types= -o|--options= -a|--all -f|--force -l|--lazy -r|--read-only -w|--rw -v|--verbose -n|--no-mtab -B|--bind -R|--rbind -L|--label= -U|--uuid=",
    ),
    (
        "iptables,ip6tables",
        "-A|--append= -D|--delete= -I|--insert= -F|--flush -X|--delete-chain -P|--policy= -t|--table= -j|--jump= -p|--protocol= -s|--source= -d|--destination= -i|--in-interface= -o|--out-interface= -m|--match= -L|--list -N|--new-chain= -Z|--zero -n|--numeric -v|--verbose --dport= --sport=",
    ),
    (
        "nc,ncat,netcat",
        "-l|--listen -p|--source-port= -e|--exec= -c|--sh-exec= -k|--keep-open -u|--udp -v|--verbose -w|--wait= -n|--nodns -z -N -q= -s|--source= -x|--proxy= -X= -i|--idle-timeout= -4 -6 -U|--unixsock --ssl",
    ),
    (
        "openssl",
        "-in= -out= -key= -passin= -passout= -connect= -subj= -days= -newkey= -nodes -noout -text -d -e -a -base64 -k= -pass=",
    ),
    (
        "gpg,gpg2",
        "-d|--decrypt -e|--encrypt -s|--sign -c|--symmetric -a|--armor -r|--recipient= -u|--local-user= -o|--output= --batch --yes --passphrase= --passphrase-file= --pinentry-mode= --homedir= --delete-secret-keys --delete-keys --export --export-secret-keys --import --verify -k|--list-keys -K|--list-secret-keys --keyserver= --recv-keys -b|--detach-sign -q|--quiet",
    ),
    (
        "make,gmake",
        "-C|--directory= -f|--file|--makefile= -j|--jobs? -k|--keep-going -n|--just-print|--dry-run|--recon -B|--always-make -i|--ignore-errors -s|--silent|--quiet -I|--include-dir= -o|--old-file= -W|--what-if= -e|--environment-overrides -d -q|--question -t|--touch -w|--print-directory",
    ),
    ("python,python3,py", "-c= -m= -W= -X= -u -v -B -E -I -O -OO -s -S -q -i -x -b -d -V|--version"),
    (
        "node",
        "-e|--eval= -p|--print= -r|--require= -c|--check -i|--interactive --import= --loader= --env-file= --inspect? --inspect-brk? --test --watch -C|--conditions= --max-old-space-size=",
    ),
    ("ruby", "-e= -r= -I= -C= -n -p -i? -w -v -x? -s -S"),
    ("perl", "-e= -E= -n -p -i? -M= -I= -w -W -0? -l? -a -F= -x? -s -S -T -c -v"),
    (
        "bash,sh,zsh,dash,ksh",
        "-c -l|--login -i -s -e -x -u -v -n -o= -O= --rcfile|--init-file= --norc --noprofile --posix -p",
    ),
    (
        "aws",
        "--profile= --region= --output= --endpoint-url= --query= --no-verify-ssl --no-paginate --no-sign-request --debug --dryrun --recursive --force --delete --acl= --exclude= --include= --quiet --yes --bucket= --key= --body= --instance-ids= --stack-name= --db-instance-identifier= --skip-final-snapshot --table-name= --function-name= --cluster= --cluster-name= --user-name= --role-name= --policy-arn= --policy-document= --secret-id= --name= --force-delete-without-recovery --filters= --cli-input-json= --source= --destination= --group-name= --group-id= --cidr= --port= --protocol= --storage-class= --sse? --dry-run --no-dry-run --repository-name= --key-id= --hosted-zone-id= --distribution-id=",
    ),
    (
        "gcloud",
        "-q|--quiet --project= --account= --configuration= --format= --verbosity= --zone= --region= --impersonate-service-account= --member= --role= --async --filter= --limit= --location= --delete-disks= --keep-disks=",
    ),
    (
        "az",
        "-g|--resource-group= -n|--name= -y|--yes -o|--output= --subscription= --query= --no-wait -l|--location= --ids= --account-name= -c|--container-name= --vault-name= --force-string",
    ),
    (
        "ansible-playbook,ansible",
        "-i|--inventory= -l|--limit= -e|--extra-vars= -t|--tags= --skip-tags= -b|--become -K|--ask-become-pass -k|--ask-pass -C|--check -D|--diff -u|--user= -m|--module-name= -a|--args= -f|--forks= -v|--verbose --vault-password-file= --become-user= --private-key=",
    ),
    (
        "pulumi",
        "-C|--cwd= -s|--stack= -y|--yes -f|--skip-preview --refresh? -t|--target= -r -m|--message= -p|--parallel= -v|--verbose= --color= --remove -d|--diff -j|--json",
    ),
    (
        "vercel",
        "--prod -y|--yes -t|--token= -S|--scope= -A|--local-config= --cwd= -e|--env= -b|--build-env= -f|--force -d|--debug",
    ),
    ("heroku", "-a|--app= -r|--remote= -c|--confirm= -y --force -o|--org= -t|--team="),
    (
        "fly,flyctl",
        "-a|--app= -c|--config= -t|--access-token= -y|--yes -r|--region= -o|--org= --now --remote-only --detach -e|--env= --image= --force -f",
    ),
    (
        "rclone",
        "-n|--dry-run -i|--interactive -v|--verbose -q|--quiet -P|--progress --config= --include= --exclude= --max-age= --transfers= --checkers= --delete-excluded --immutable -u|--update --bwlimit=",
    ),
    (
        "mkfs,mkfs.ext4,mkfs.xfs,mkfs.btrfs,mkfs.vfat,mkfs.ext3",
        "-t|--type= -L= -F -f -b= -m= -n= -q -v -U= -O= -E= -i= -N=",
    ),
    (
        "wipefs",
        "-a|--all -f|--force -o|--offset= -t|--types= -b|--backup -n|--no-act -p|--parsable -J|--json -q|--quiet -i|--noheadings -O|--output=",
    ),
    (
        "date",
        "-d|--date= -s|--set= -u|--utc|--universal -f|--file= -r|--reference= -I|--iso-8601? -R|--rfc-email --rfc-3339=",
    ),
    (
        "patch",
        "-p|--strip= -i|--input= -o|--output= -d|--directory= -R|--reverse --dry-run -N|--forward -b|--backup -r|--reject-file= -f|--force -s|--silent|--quiet -E|--remove-empty-files -F|--fuzz= -B= -z|--suffix= -D|--ifdef=",
    ),
    (
        "watch",
        "-n|--interval= -d|--differences? -t|--no-title -b|--beep -e|--errexit -g|--chgexit -c|--color -x|--exec -p|--precise",
    ),
    ("tmux,screen", "-d -m -S= -L= -f= -r -x -c= -s= -n= -t= -l -v -u -q -X -D"),
    ("cron,at,batch", "-f= -m -q= -t= -v -d -l -c -r -M"),
    (
        "jq,yq",
        "-r|--raw-output -n|--null-input -c|--compact-output -s|--slurp -e|--exit-status -i|--inplace -R|--raw-input -S|--sort-keys -j|--join-output -f|--from-file= -M|--monochrome-output -C|--color-output -a|--ascii-output -L=",
    ),
];

/// Programs whose options have one dash and a whole word: `find . -delete`.
const SINGLE_DASH: &[(&str, &str)] = &[
    (
        "find,gfind",
        "-name= -iname= -path= -ipath= -wholename= -regex= -iregex= -type= -xtype= -maxdepth= -mindepth= -mtime= -atime= -ctime= -mmin= -amin= -cmin= -newer= -size= -user= -group= -perm= -uid= -gid= -inum= -links= -samefile= -lname= -fstype= -regextype= -fprint= -fprint0= -fprintf= -fls= -printf= -delete -exec -execdir -ok -okdir -print -print0 -ls -prune -quit -empty -L -H -P -depth -d -xdev -mount -not -and -or -o -a -readable -writable -executable -newermt= -nouser -nogroup -follow -daystart",
    ),
    (
        "terraform,tofu,terragrunt",
        "-auto-approve|--auto-approve|--terragrunt-non-interactive|-y -chdir|--chdir= -var|--var= -var-file|--var-file= -target|--target= \
         -replace|--replace= -destroy|--destroy -refresh-only -lock|--lock= -lock-timeout= -state|--state= -state-out= -backup= -out= \
         -input|--input= -parallelism= -refresh|--refresh= -upgrade -reconfigure -migrate-state -force-copy -force|--force -json -no-color \
         -backend-config= -plugin-dir= -help|--help -version|--version -compact-warnings -detailed-exitcode -recursive -check -diff -write=",
    ),
    ("migrate", "-path= -database= -source= -prefetch= -lock-timeout= -verbose -version -help"),
    ("goose", "-dir= -table= -certfile= -ssl-cert= -ssl-key= -timeout= -allow-missing -no-versioning -v -s -h"),
    ("packer", "-auto-approve -force -var= -var-file= -only= -except= -on-error= -parallel-builds= -debug -color="),
    (
        "vault,consul,nomad",
        "-address= -namespace= -token= -region= -force -f -y|-yes|-auto-approve -purge -detach -format= -field= -method= -path= -id= -versions= -mount= -recurse -tls-skip-verify",
    ),
    ("java", "-cp|-classpath|--class-path= -jar -version"),
    ("xcodebuild", "-project= -scheme= -workspace= -configuration= -destination= -sdk= -derivedDataPath="),
    ("ffmpeg", "-i= -y -n -f= -c= -ss= -t= -to= -loglevel="),
    ("ffprobe,ffplay", "-i= -show_streams -show_format -loglevel="),
    ("convert,magick,mogrify,identify", "-resize= -quality= -format= -path= -crop= -gravity= -background="),
    ("openssl", ""),
];

/// `true` if a program has an option with this spelling.
pub(crate) fn is_known(spelling: &str) -> bool {
    let rows = TABLE.iter().chain(SINGLE_DASH).flat_map(|(_, options)| options.split_ascii_whitespace());
    rows.map(OptionName::parse).any(|option| option.spellings().any(|own| own == spelling))
}

/// Value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    /// A value in the same word or in the next one.
    Value,
    /// A value in the same word, if any.
    Attached,
}

/// One option of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OptionName {
    /// Spellings, separated by `|`.
    spellings: &'static str,
    pub(crate) takes: Takes,
}

impl OptionName {
    fn parse(text: &'static str) -> Self {
        if let Some(spellings) = text.strip_suffix('=') {
            return Self { spellings, takes: Takes::Value };
        }
        match text.strip_suffix('?') {
            Some(spellings) => Self { spellings, takes: Takes::Attached },
            None => Self { spellings: text, takes: Takes::Nothing },
        }
    }

    pub(crate) fn spellings(self) -> impl Iterator<Item = &'static str> {
        self.spellings.split('|')
    }
}

/// Options that apply to a part of a command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct OptionNames {
    rows: Vec<&'static str>,
    /// `true` if an option with one dash is a whole word.
    pub(crate) is_single_dash: bool,
}

impl OptionNames {
    /// Returns the options of a program with its subcommand, which may be empty. Options of the subcommand take precedence.
    pub(crate) fn of(program: &str, subcommand: &str) -> Self {
        let mut rows = Vec::new();
        let is_single_dash = SINGLE_DASH.iter().any(|(names, _)| names.split(',').any(|name| name == program));
        let first = subcommand.split(' ').next().unwrap_or_default();
        let mut keys = vec![format!("{program} {subcommand}"), format!("{program} {first}"), program.to_owned()];
        // Before the subcommand and behind it, git reads letters differently.
        if program == "git" && !subcommand.is_empty() {
            keys.pop();
        }
        keys.dedup();
        for key in keys {
            let row = TABLE.iter().chain(SINGLE_DASH).find(|(names, _)| names.split(',').any(|name| name == key));
            rows.extend(row.map(|(_, options)| *options));
        }
        Self { rows, is_single_dash }
    }

    /// `true` if the program is not in the table.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn all(&self) -> impl Iterator<Item = OptionName> + '_ {
        self.rows.iter().flat_map(|row| row.split_ascii_whitespace()).map(OptionName::parse)
    }

    /// Returns the option with this spelling.
    pub(crate) fn find(&self, spelling: &str) -> Option<OptionName> {
        self.all().find(|option| option.spellings().any(|own| own == spelling))
    }

    /// Returns the long option with this name, or the only one that starts with it.
    pub(crate) fn find_long(&self, written: &str) -> Option<OptionName> {
        if let Some(option) = self.find(written) {
            return Some(option);
        }
        if written.len() < 3 {
            return None;
        }
        let mut starting = self.all().filter(|option| option.spellings().any(|own| own.starts_with(written)));
        let first = starting.next()?;
        starting.all(|other| other == first).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_row_are_distinct() {
        for (names, options) in TABLE.iter().chain(SINGLE_DASH) {
            let mut seen = std::collections::BTreeSet::new();
            for option in options.split_ascii_whitespace().map(OptionName::parse) {
                for spelling in option.spellings() {
                    assert!(spelling.starts_with('-') && spelling.len() > 1, "{names}: {spelling}");
                    assert!(seen.insert(spelling), "{names}: {spelling} twice");
                }
            }
        }
    }

    #[test]
    fn programs_have_one_row() {
        let mut seen = std::collections::BTreeSet::new();
        for name in TABLE.iter().flat_map(|(names, _)| names.split(',')) {
            assert!(seen.insert(name), "{name} twice");
        }
    }

    #[test]
    fn unique_starts_of_long_options_are_completed() {
        let found = |program: &str, subcommand: &str, written: &str| {
            OptionNames::of(program, subcommand)
                .find_long(written)
                .map(|option| option.spellings().collect::<Vec<_>>().join(" "))
        };
        assert_eq!(found("git", "push", "--forc").as_deref(), None);
        assert_eq!(found("git", "push", "--force").as_deref(), Some("-f --force"));
        assert_eq!(found("git", "push", "--force-w").as_deref(), Some("--force-with-lease"));
        assert_eq!(found("rm", "", "--rec").as_deref(), Some("-r -R --recursive"));
        assert_eq!(found("git", "reset", "--har").as_deref(), Some("--hard"));
        assert_eq!(found("unknown", "", "--force"), None);
    }
}
