SET GLOBAL TimeZone = '{zone}';
SET GLOBAL lock_configuration = true;
