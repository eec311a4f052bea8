"""What `import republish` gives to other programs: frames in, frames out, and no file touched unasked."""
