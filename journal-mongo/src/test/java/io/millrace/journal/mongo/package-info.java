@NullMarked
package io.millrace.journal.mongo;

import org.jspecify.annotations.NullMarked;
