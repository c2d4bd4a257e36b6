package io.millrace.server.http;

import io.helidon.common.buffers.DataReader;
import io.helidon.http.DirectHandler;
import io.helidon.http.RequestException;
import io.helidon.http.Status;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reads request lines and headers, and says by status 431 that a header is too long. */
final class LimitedReader extends DataReader {
  private static final Status TOO_LONG = Status.create(431, "Request Header Fields Too Large");

  private final HttpLimits limits;

  LimitedReader(Supplier<byte @Nullable []> source, HttpLimits limits) {
    super(source);
    this.limits = limits;
  }

  @Override
  public int findNewLine(int max) {
    int found = super.findNewLine(max);
    if (found == max && max != limits.maxRequestLineBytes()) {
      throw tooLong();
    }
    return found;
  }

  @Override
  public int findOrNewLine(byte wanted, int max) {
    int found = super.findOrNewLine(wanted, max);
    if (found == max) {
      throw tooLong();
    }
    return found;
  }

  private RequestException tooLong() {
    return RequestException.builder()
        .type(DirectHandler.EventType.BAD_REQUEST)
        .status(TOO_LONG)
        .message("the headers exceed the limit of " + limits.maxHeaderBytes() + " bytes")
        .build();
  }
}
