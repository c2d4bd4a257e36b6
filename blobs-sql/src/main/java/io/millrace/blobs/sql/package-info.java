/** Blobs in the tables of a SQL database. */
@NullMarked
package io.millrace.blobs.sql;

import org.jspecify.annotations.NullMarked;
