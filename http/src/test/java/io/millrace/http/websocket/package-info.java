@NullMarked
package io.millrace.http.websocket;

import org.jspecify.annotations.NullMarked;
