/** What commands that speak to a server share: its address, its errors, values on command lines. */
@NullMarked
package io.millrace.cli.remote;

import org.jspecify.annotations.NullMarked;
