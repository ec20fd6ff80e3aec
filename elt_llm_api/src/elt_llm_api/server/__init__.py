"""The server around the application: socket, guards, queue of questions, commands."""
