SELECT history_version, software_version FROM software;
