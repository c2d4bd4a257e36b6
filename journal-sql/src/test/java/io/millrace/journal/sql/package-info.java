@NullMarked
package io.millrace.journal.sql;

import org.jspecify.annotations.NullMarked;
