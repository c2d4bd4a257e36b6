@NullMarked
package io.millrace.blobs.s3;

import org.jspecify.annotations.NullMarked;
