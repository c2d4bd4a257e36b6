package io.millrace.client;

import java.io.InputStream;

/**
 * A body that is read while it is sent.
 *
 * @param contentType its media type
 * @param length how many bytes it has; -1 where that is not known
 * @param content the bytes, read to their end; not closed
 */
public record Upload(String contentType, long length, InputStream content) {}
