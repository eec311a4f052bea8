-- The query that comes next can't change these: so it installs nothing, and no log or profile goes to a file.
SET enable_progress_bar = false;
SET autoinstall_known_extensions = false;
SET allow_community_extensions = false;
SET lock_configuration = true;
