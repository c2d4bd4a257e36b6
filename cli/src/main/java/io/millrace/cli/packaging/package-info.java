/** Packages of the built distribution for operating systems. */
@NullMarked
package io.millrace.cli.packaging;

import org.jspecify.annotations.NullMarked;
