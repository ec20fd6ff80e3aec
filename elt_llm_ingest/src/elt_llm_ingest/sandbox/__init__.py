"""The child process that parses untrusted files, and how the job talks to it."""
