/**
 * Connections to SQL databases, statements and versioned tables, for whatever keeps something in
 * one.
 */
@NullMarked
package io.millrace.database;

import org.jspecify.annotations.NullMarked;
