package io.millrace.server.websocket;

import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** A message, read from its frames while they come. For use by the connection's thread. */
final class MessageStream extends InputStream {
  private final Conversation conversation;
  private final FrameReader frames;
  private boolean last;
  private long length;
  private @Nullable IOException failure;

  /** The message whose first frame has just begun. */
  MessageStream(Conversation conversation, FrameReader frames, boolean last) {
    this.conversation = conversation;
    this.frames = frames;
    this.last = last;
    this.length = frames.left();
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int count) throws IOException {
    if (count == 0) {
      return 0;
    }
    check();
    try {
      while (frames.left() == 0) {
        if (last) {
          return -1;
        }
        FrameHead next = conversation.next(true);
        last = next.last();
        length += next.length();
        conversation.checkMessage(length);
      }
      int read = frames.read(target, offset, count);
      conversation.heard();
      return read;
    } catch (IOException e) {
      failure = e;
      throw e;
    }
  }

  /** Fails where reading has failed before, whatever its reader made of that. */
  void check() throws IOException {
    if (failure != null) {
      throw failure;
    }
  }

  /** Reads what is left. */
  void skipRest() throws IOException {
    byte[] dropped = new byte[8 << 10];
    while (read(dropped, 0, dropped.length) >= 0) {
      // Nobody wants it.
    }
  }
}
