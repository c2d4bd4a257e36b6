@NullMarked
package io.millrace.journal.shared;

import org.jspecify.annotations.NullMarked;
