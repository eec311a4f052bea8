"""What a reader of a published folder uses: its texts, and estimates."""
