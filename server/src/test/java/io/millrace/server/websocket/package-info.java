@NullMarked
package io.millrace.server.websocket;

import org.jspecify.annotations.NullMarked;
