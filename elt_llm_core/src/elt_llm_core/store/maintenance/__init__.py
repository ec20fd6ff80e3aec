"""Backups, restoring, migrations, purging and health of the database."""
