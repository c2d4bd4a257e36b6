/** {@code millrace plugins}: writes and checks plugins of queues, without a server. */
@NullMarked
package io.millrace.cli.plugins;

import org.jspecify.annotations.NullMarked;
