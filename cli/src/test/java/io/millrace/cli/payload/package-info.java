@NullMarked
package io.millrace.cli.payload;

import org.jspecify.annotations.NullMarked;
