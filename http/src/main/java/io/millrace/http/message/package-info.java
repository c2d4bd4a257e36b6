/**
 * HTTP messages, without connections: parsing the head of a request ({@link
 * io.millrace.http.message.Head}) and encoding a response ({@link
 * io.millrace.http.message.ResponseEncoder}).
 */
@NullMarked
package io.millrace.http.message;

import org.jspecify.annotations.NullMarked;
