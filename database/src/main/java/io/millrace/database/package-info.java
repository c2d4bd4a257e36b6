/** Connections to SQL databases, for whatever keeps something in one. */
@NullMarked
package io.millrace.database;

import org.jspecify.annotations.NullMarked;
