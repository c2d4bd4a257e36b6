package io.millrace.server.jobs;

import io.millrace.http.Request;
import io.millrace.http.message.HttpProblem;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A multipart form (RFC 7578), read part by part as it arrives; at most 8 KiB of it are in memory.
 * Parts without a name are skipped. For use by one thread.
 */
final class Form {
  private static final String TYPE = "multipart/form-data";

  /** The longest boundary that RFC 2046 allows. */
  private static final int MAX_BOUNDARY_CHARACTERS = 70;

  private static final int MAX_HEADER_BYTES = 8 << 10;
  private static final byte[] LINE_END = {'\r', '\n'};
  private static final byte[] HEADERS_END = {'\r', '\n', '\r', '\n'};
  private static final byte[] LAST = {'-', '-'};

  private final InputStream body;

  /** What stands before each part, and behind the last one. */
  private final byte[] delimiter;

  private final byte[] buffer;

  /** What has been read of the body, but not taken, lies between these two. */
  private int from;

  private int to;

  /** No delimiter begins before this index of the buffer. */
  private int clear;

  private boolean begun;
  private boolean ended;

  /**
   * A form in a body.
   *
   * @param bodyBytes the length of the body; -1 if it is not known
   */
  Form(InputStream body, long bodyBytes, String boundary) {
    this.body = body;
    this.delimiter = ("\r\n--" + boundary).getBytes(StandardCharsets.ISO_8859_1);
    int most = MAX_HEADER_BYTES + delimiter.length;
    this.buffer =
        new byte[bodyBytes < 0 ? most : (int) Math.min(most, bodyBytes + LINE_END.length)];
    // The first delimiter may begin the body: then this is the line end that belongs to it.
    System.arraycopy(LINE_END, 0, buffer, 0, LINE_END.length);
    this.to = LINE_END.length;
  }

  /**
   * The form in a request.
   *
   * @throws HttpProblem 400 if there is none
   */
  static Form of(Request request) {
    if (!request.mediaType().equals(TYPE)) {
      throw HttpProblem.malformed(
          "a job is submitted as " + TYPE + " with the fields Payload and Priority");
    }
    String boundary = parameter(request.header("Content-Type").orElse(""), "boundary");
    if (boundary == null || boundary.isEmpty() || boundary.length() > MAX_BOUNDARY_CHARACTERS) {
      throw problem(
          "its Content-Type must name a boundary of 1 to "
              + MAX_BOUNDARY_CHARACTERS
              + " characters");
    }
    return new Form(request.bodyStream(), request.bodyLength(), boundary);
  }

  private static HttpProblem problem(String what) {
    return HttpProblem.malformed("the form is malformed: " + what);
  }

  /** The form does not have the form that it must have. */
  private static final class MalformedException extends IOException {
    MalformedException(String what) {
      super(what);
    }
  }

  /**
   * The problem that a failure to read a part stands for.
   *
   * @return a problem to be thrown
   * @throws IOException if the connection has failed
   */
  static HttpProblem meaning(IOException failure) throws IOException {
    if (failure instanceof MalformedException) {
      return problem(String.valueOf(failure.getMessage()));
    }
    throw failure;
  }

  /**
   * The next field; null at the end. The rest of the last one is skipped.
   *
   * @throws HttpProblem 400 if the form is malformed
   * @throws IOException if the client stops sending
   */
  @Nullable Field next() throws IOException {
    try {
      while (!ended) {
        for (int ready = content(); ready > 0; ready = content()) {
          from += ready;
        }
        ended = !begins();
        String name = ended ? null : name(headers());
        if (name != null) {
          return new Field(name.toLowerCase(Locale.ROOT), new Content());
        }
      }
      return null;
    } catch (MalformedException e) {
      throw meaning(e);
    }
  }

  /** Takes a delimiter; gives whether a part begins behind it. */
  private boolean begins() throws IOException {
    if (!has(delimiter)) {
      return false;
    }
    begun = true;
    from += delimiter.length;
    if (has(LAST)) {
      return false;
    }
    if (!has(LINE_END)) {
      throw new MalformedException("a boundary is followed by something else than a line end");
    }
    // The line end stays, so that a part without headers ends them too.
    return true;
  }

  /** Whether this comes next; reads what it takes to know. */
  private boolean has(byte[] expected) throws IOException {
    while (to - from < expected.length && fill()) {
      // There is more.
    }
    return to - from >= expected.length && matches(from, expected);
  }

  /** Whether the buffer holds this at an index, as far as it has been read. */
  private boolean matches(int at, byte[] expected) {
    int length = Math.min(expected.length, to - at);
    return Arrays.equals(buffer, at, at + length, expected, 0, length);
  }

  /** The headers of a part, each behind a line end. */
  private String headers() throws IOException {
    int end = from;
    while (true) {
      while (end + HEADERS_END.length <= to && !matches(end, HEADERS_END)) {
        end++;
      }
      if (end + HEADERS_END.length <= to) {
        String headers = new String(buffer, from, end - from, StandardCharsets.UTF_8);
        from = end + HEADERS_END.length;
        return headers;
      }
      if (to - from > MAX_HEADER_BYTES) {
        throw new MalformedException("a part has more than " + MAX_HEADER_BYTES + " header bytes");
      }
      end -= from;
      if (!fill()) {
        throw new MalformedException("it ends within the headers of a part");
      }
      end += from;
    }
  }

  /** The name of the field that a part with these headers is; null if it is none. */
  private static @Nullable String name(String headers) {
    // A line that begins with a blank continues the one before.
    List<String> lines = headers.replace("\r\n ", " ").replace("\r\n\t", " ").lines().toList();
    for (String header : lines) {
      int colon = header.indexOf(':');
      if (colon >= 0
          && header.substring(0, colon).strip().equalsIgnoreCase("Content-Disposition")) {
        String value = header.substring(colon + 1).strip();
        return value.regionMatches(true, 0, "form-data", 0, "form-data".length())
            ? parameter(value, "name")
            : null;
      }
    }
    return null;
  }

  /** The value of a parameter behind a header's value; null if there is none. */
  private static @Nullable String parameter(String header, String wanted) {
    int at = header.indexOf(';');
    while (at >= 0 && at < header.length()) {
      int equal = header.indexOf('=', at);
      if (equal < 0) {
        return null;
      }
      String name = header.substring(at + 1, equal).strip();
      StringBuilder value = new StringBuilder();
      boolean isQuoted = false;
      for (at = equal + 1; at < header.length() && (isQuoted || header.charAt(at) != ';'); at++) {
        char next = header.charAt(at);
        if (next == '"') {
          isQuoted = !isQuoted;
        } else {
          boolean isEscape = isQuoted && next == '\\' && at + 1 < header.length();
          value.append(isEscape ? header.charAt(++at) : next);
        }
      }
      if (name.equalsIgnoreCase(wanted)) {
        return value.toString().strip();
      }
    }
    return null;
  }

  /**
   * Finds how many bytes of the current part are in the buffer, and reads more if there are none.
   *
   * @return 0 at its end
   */
  private int content() throws IOException {
    while (true) {
      clear = Math.max(clear, from);
      while (clear < to && (buffer[clear] != '\r' || !matches(clear, delimiter))) {
        clear++;
      }
      if (clear > from) {
        return clear - from;
      }
      if (to - from >= delimiter.length) {
        return 0;
      }
      if (!fill()) {
        if (begun) {
          throw new MalformedException("it ends within a part");
        }
        // Whatever this was, it has no part.
        from = to;
        return 0;
      }
    }
  }

  /** Reads more of the body; false at its end. Indexes into the buffer change. */
  private boolean fill() throws IOException {
    System.arraycopy(buffer, from, buffer, 0, to - from);
    to -= from;
    clear = Math.max(0, clear - from);
    from = 0;
    int count = to == buffer.length ? -1 : body.read(buffer, to, buffer.length - to);
    to += Math.max(0, count);
    return count >= 0;
  }

  /**
   * A field of a form.
   *
   * @param name in lower case
   * @param content may be read until the next field is asked for; fails as {@link #meaning} says
   */
  record Field(String name, InputStream content) {
    /**
     * Its content as text.
     *
     * @throws HttpProblem 400 if it is longer than this, or not UTF-8, or if the form is malformed
     */
    String text(int maxBytes) throws IOException {
      byte[] bytes;
      try {
        bytes = content.readNBytes(maxBytes + 1);
      } catch (MalformedException e) {
        throw meaning(e);
      }
      if (bytes.length > maxBytes) {
        throw HttpProblem.malformed("the field " + name + " is too long");
      }
      try {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      } catch (CharacterCodingException _) {
        throw HttpProblem.malformed("the field " + name + " is not UTF-8");
      }
    }
  }

  /** The content of the current part. */
  private final class Content extends InputStream {
    @Override
    public int read() throws IOException {
      return content() == 0 ? -1 : buffer[from++] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      if (length == 0) {
        return 0;
      }
      int count = Math.min(length, content());
      System.arraycopy(buffer, from, target, offset, count);
      from += count;
      return count == 0 ? -1 : count;
    }

    @Override
    public byte[] readNBytes(int length) throws IOException {
      int ready = content();
      if (ready > length || has(ready, delimiter)) {
        byte[] bytes = Arrays.copyOfRange(buffer, from, from + Math.min(ready, length));
        from += bytes.length;
        return bytes;
      }
      return super.readNBytes(length);
    }

    /** Whether all of this is in the buffer behind so many bytes. */
    private boolean has(int offset, byte[] expected) {
      int at = from + offset;
      return to - at >= expected.length && matches(at, expected);
    }
  }
}
