@NullMarked
package io.millrace.cli.storm;

import org.jspecify.annotations.NullMarked;
