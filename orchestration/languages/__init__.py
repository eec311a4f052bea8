"""The languages of what people read on paper: reports of audits, and sheets for a person."""
