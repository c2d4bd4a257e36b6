@NullMarked
package io.millrace.journal.s3;

import org.jspecify.annotations.NullMarked;
