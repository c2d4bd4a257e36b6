/**
 * HTTP messages, without connections: the head of a request is read ({@link
 * io.millrace.http.message.Head}), a reply becomes bytes ({@link
 * io.millrace.http.message.ReplyText}).
 */
@NullMarked
package io.millrace.http.message;

import org.jspecify.annotations.NullMarked;
