@NullMarked
package io.millrace.cli.plugins;

import org.jspecify.annotations.NullMarked;
