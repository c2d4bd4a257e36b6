@NullMarked
package io.millrace.journal.elastic;

import org.jspecify.annotations.NullMarked;
