/**
 * Finished work that has left the store, in a database: SQLite in the data folder, or PostgreSQL or
 * MariaDB.
 *
 * <pre>
 *   store                          Archiver, batch by batch                    database
 *   finished, older than its   1. ArchiveSource.due
 *   queue or type keeps it  ────────────────────────► 2. Archive.put  ───────► committed
 *   gone                    ◄──────────────────────── 3. ArchiveSource.remove
 *                              if it has changed:     4. Archive.drop ───────► gone again
 * </pre>
 *
 * <p>An item is inserted before it is removed, so that a crash in between leaves it in both. The
 * insert replaces an earlier row of the same id, and {@link io.millrace.archive.Archiver} looks at
 * the last batch when it starts, so nothing is lost and nothing stays twice.
 *
 * <p>{@link io.millrace.archive.ArchiveTable} defines the tables; docs/archive.md describes them
 * for people who query them.
 */
@NullMarked
package io.millrace.archive;

import org.jspecify.annotations.NullMarked;
