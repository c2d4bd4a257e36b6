package io.millrace.server.http;

import io.helidon.common.buffers.DataReader;
import io.helidon.http.RequestException;
import io.helidon.webserver.CloseConnectionException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** The body of a request, which remembers what was wrong with it. For use by one thread. */
final class BodyStream extends InputStream {
  /** How reading has gone so far. */
  enum State {
    /** Well. */
    SOUND,
    /** What was sent is no body: whatever follows on the connection means nothing. */
    MALFORMED,
    /** The client stopped sending. */
    CUT
  }

  private final InputStream source;
  private State state = State.SOUND;

  BodyStream(InputStream source) {
    this.source = source;
  }

  State state() {
    return state;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    try {
      return source.read(target, offset, length);
    } catch (IOException
        | UncheckedIOException
        | CloseConnectionException
        | DataReader.InsufficientDataAvailableException e) {
      state = State.CUT;
      throw new IOException("the client stopped sending", e);
    } catch (RequestException | IllegalArgumentException | DataReader.IncorrectNewLineException e) {
      // The library says so in several ways, a number format among them.
      state = State.MALFORMED;
      throw new IOException("the body is malformed: " + e.getMessage(), e);
    }
  }
}
