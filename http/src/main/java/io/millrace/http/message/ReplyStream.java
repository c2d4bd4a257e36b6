package io.millrace.http.message;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The body of an answer that is written piece by piece. Writes are gathered; the head goes out with
 * the first of them. A body of unknown length that fits into the buffer gets a length, any other
 * comes in chunks. For use by one thread.
 */
public final class ReplyStream extends OutputStream {
  private static final int BUFFER_BYTES = 8 << 10;
  private static final int FIRST_BYTES = 512;
  private static final byte[] LINE_END = {'\r', '\n'};
  private static final byte[] LAST_CHUNK = "0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  private final OutputStream target;
  private final Reply.Streamed reply;
  private final boolean last;

  /** The length of the body as far as known; -1 if it comes in chunks. */
  private long lengthBytes;

  private byte[] buffer = new byte[FIRST_BYTES];
  private int buffered;
  private long written;
  private boolean begun;

  /**
   * The body of an answer.
   *
   * @param last whether the connection is closed afterwards
   */
  public ReplyStream(OutputStream target, Reply.Streamed reply, boolean last) {
    this.target = target;
    this.reply = reply;
    this.last = last;
    this.lengthBytes = reply.lengthBytes();
  }

  @Override
  public void write(int one) throws IOException {
    write(new byte[] {(byte) one}, 0, 1);
  }

  @Override
  public void write(byte[] source, int offset, int count) throws IOException {
    written += count;
    if (reply.lengthBytes() >= 0 && written > reply.lengthBytes()) {
      throw new IllegalStateException("an answer is longer than it said");
    }
    if (buffered + count > BUFFER_BYTES) {
      flush();
    }
    if (count >= BUFFER_BYTES) {
      send(source, offset, count, false);
      return;
    }
    if (buffered + count > buffer.length) {
      buffer = Arrays.copyOf(buffer, BUFFER_BYTES);
    }
    System.arraycopy(source, offset, buffer, buffered, count);
    buffered += count;
  }

  /** Sends what was written, and the head in any case. */
  @Override
  public void flush() throws IOException {
    if (buffered > 0 || !begun) {
      int count = buffered;
      buffered = 0;
      send(buffer, 0, count, false);
    }
  }

  /** Ends the body, which is whole. */
  public void end() throws IOException {
    if (written < reply.lengthBytes()) {
      throw new IllegalStateException("an answer is shorter than it said");
    }
    if (!begun) {
      lengthBytes = written;
    }
    if (lengthBytes < 0 || !begun || buffered > 0) {
      send(buffer, 0, buffered, true);
    }
  }

  /** Sends a part, by a single write if it is short. */
  private void send(byte[] source, int offset, int count, boolean end) throws IOException {
    boolean chunked = lengthBytes < 0;
    ByteArrayOutputStream text = new ByteArrayOutputStream(FIRST_BYTES);
    if (!begun) {
      begun = true;
      text.writeBytes(ReplyText.head(reply, lengthBytes, last));
    }
    if (chunked && count > 0) {
      text.writeBytes(Integer.toHexString(count).getBytes(StandardCharsets.US_ASCII));
      text.writeBytes(LINE_END);
    }
    if (count >= BUFFER_BYTES) {
      text.writeTo(target);
      text.reset();
      target.write(source, offset, count);
    } else {
      text.write(source, offset, count);
    }
    if (chunked && count > 0) {
      text.writeBytes(LINE_END);
    }
    if (chunked && end) {
      text.writeBytes(LAST_CHUNK);
    }
    if (text.size() > 0) {
      text.writeTo(target);
    }
  }
}
