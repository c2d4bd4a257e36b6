/** The configurations for proxies in docs/operations, with the programs that they are for. */
@NullMarked
package io.millrace.cli.proxy;

import org.jspecify.annotations.NullMarked;
