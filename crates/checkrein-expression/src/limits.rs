//! Limits of expressions. They hold for every input, so that no rule delays an agent.

/// Maximum length of an expression, in bytes.
pub const BYTES: usize = 16 * 1024;

/// Maximum number of nodes of an expression.
pub const NODES: usize = 4096;

/// Maximum nesting of an expression.
pub const DEPTH: usize = 64;

/// Maximum nesting of comprehensions such as `exists`.
pub const COMPREHENSIONS: usize = 2;

/// Maximum length of a pattern, in bytes.
pub const PATTERN_BYTES: usize = 512;

/// Maximum size of a compiled pattern, in bytes.
pub const PATTERN_SIZE: usize = 256 * 1024;

/// Number of steps that the evaluation of one rule may take. A step is one node, or 64 bytes of text.
pub const STEPS: u32 = 200_000;

/// Maximum length of a text that a function makes, in bytes. The steps of one rule cannot read a longer one.
pub const TEXT_BYTES: usize = STEPS as usize * 64;
