"""What republish is compared with: tools that anonymize each release by itself."""
