@NullMarked
package io.millrace.s3;

import org.jspecify.annotations.NullMarked;
