@NullMarked
package io.millrace.store.journal.files;

import org.jspecify.annotations.NullMarked;
