package io.millrace.server.http;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The head of a request, read as strictly as RFC 9112 allows, so that nobody between the client and
 * this server can have understood another request. It decides how the body is framed and whether
 * the connection is kept. Immutable once read.
 *
 * <p>Refused with 400: line ends other than CRLF, a request line that is not {@code METHOD PATH
 * HTTP/1.1} with single spaces, an empty header name or one with other characters than those of a
 * token (so also white space before the colon, and folded lines), control characters in a value,
 * not exactly one Host, several lengths, a length that is not digits alone, a length beside chunks.
 * Other transfer codings are 501, content codings 415, unknown expectations 417.
 */
final class Head {
  /** The length of a body that comes in chunks. */
  static final long CHUNKED = -1;

  private static final int MOST_LENGTH_DIGITS = 18;
  private static final boolean[] TOKEN = token();

  private final byte[] bytes;
  private final int end;

  /** Where reading stands. */
  private int at;

  private String method = "";
  private String authority = "";
  private int targetStart;
  private int targetEnd;
  private @Nullable String host;
  private @Nullable String length;
  private @Nullable String coding;
  private boolean expectsContinue;
  private boolean closes;
  private boolean upgrades;
  private final ByteArrayOutputStream forLibrary;

  private Head(byte[] bytes, int end) {
    this.bytes = bytes;
    this.end = end;
    this.forLibrary = new ByteArrayOutputStream(end);
  }

  /**
   * Reads a head.
   *
   * @param bytes begin with the head
   * @param end where it ends, behind its empty line
   * @throws HttpProblem if it is malformed or asks for what is not known here
   */
  static Head read(byte[] bytes, int end) {
    Head head = new Head(bytes, end);
    head.requestLine();
    while (bytes[head.at] != '\r') {
      head.header();
    }
    if (head.at != end - 2) {
      throw HttpProblem.malformed("a line of the head ends in CR alone; lines end in CR and LF");
    }
    head.write(head.at, end);
    head.check();
    return head;
  }

  /** The method. */
  String method() {
    return method;
  }

  /** The length of the body, 0 for none, or {@link #CHUNKED}. */
  long bodyBytes() {
    return coding != null ? CHUNKED : length == null ? 0 : Long.parseLong(length);
  }

  /** Whether the client waits for 100 before it sends the body. */
  boolean expectsContinue() {
    return expectsContinue;
  }

  /** Whether the client wants the connection closed after the answer. */
  boolean closes() {
    return closes;
  }

  /** Whether an event loop may answer it: a POST of a stated length with nothing special. */
  boolean isPlain() {
    return method.equals("POST")
        && length != null
        && coding == null
        && !expectsContinue
        && !closes
        && !upgrades;
  }

  /**
   * The head for the library, which gets to see nothing of the body: without what describes its
   * framing, and with the path alone in the request line.
   */
  byte[] forLibrary() {
    return forLibrary.toByteArray();
  }

  private void requestLine() {
    int start = at;
    while (at < end && TOKEN[bytes[at] & 0xff]) {
      at++;
    }
    if (at == start || bytes[at] != ' ') {
      throw noRequestLine();
    }
    method = text(start, at);
    targetStart = ++at;
    while (bytes[at] != ' ' && bytes[at] != '\r') {
      at++;
    }
    targetEnd = at;
    if (bytes[at] != ' ' || targetEnd == targetStart) {
      throw noRequestLine();
    }
    int version = ++at;
    while (bytes[at] != '\r') {
      at++;
    }
    String protocol = text(version, at);
    if (protocol.equals("HTTP/1.0")) {
      throw new HttpProblem(505, "HTTP/1.0 is not spoken here, use HTTP/1.1");
    }
    if (!protocol.equals("HTTP/1.1")) {
      throw HttpProblem.malformed(
          "the request line does not end in HTTP/1.1, the protocol spoken here");
    }
    lineEnd();
    target();
    write(0, targetStart);
    write(targetStart + authority.length(), targetEnd);
    write(targetEnd, at);
  }

  private static HttpProblem noRequestLine() {
    return HttpProblem.malformed("the request line is not METHOD PATH HTTP/1.1");
  }

  /** Takes scheme and host off a target of the form that proxies get; they must name this Host. */
  private void target() {
    String target = text(targetStart, targetEnd);
    if (target.regionMatches(true, 0, "http://", 0, 7)) {
      int path = target.indexOf('/', 7);
      if (path < 0) {
        throw HttpProblem.malformed("the request line names no path");
      }
      authority = target.substring(0, path);
    } else if (!target.startsWith("/") && !(target.equals("*") && method.equals("OPTIONS"))) {
      throw HttpProblem.malformed("the path in the request line begins with /");
    }
    if (target.indexOf('#') >= 0) {
      throw HttpProblem.malformed("the path in the request line has no fragment: #");
    }
  }

  private void header() {
    int start = at;
    while (TOKEN[bytes[at] & 0xff]) {
      at++;
    }
    int nameEnd = at;
    if (bytes[at] != ':') {
      throw HttpProblem.malformed(
          bytes[start] == ' ' || bytes[start] == '\t'
              ? "a header line begins with white space; folded headers are not taken"
              : "a header line does not begin with a name and a colon: "
                  + shown(start, Math.min(start + 40, end)));
    }
    if (nameEnd == start) {
      throw HttpProblem.malformed("a header has an empty name");
    }
    at++;
    int value = at;
    while (bytes[at] != '\r') {
      int letter = bytes[at] & 0xff;
      if (letter != '\t' && (letter < ' ' || letter == 0x7f)) {
        throw HttpProblem.malformed(
            "the header " + text(start, nameEnd) + " holds a control character");
      }
      at++;
    }
    int valueEnd = at;
    lineEnd();
    if (isKept(start, nameEnd, value, valueEnd)) {
      write(start, at);
    }
  }

  private void lineEnd() {
    if (bytes[at] != '\r' || bytes[at + 1] != '\n') {
      throw HttpProblem.malformed("a line of the head ends in CR alone; lines end in CR and LF");
    }
    at += 2;
  }

  /** Notes a header that matters here. Returns whether the library gets to see it. */
  private boolean isKept(int start, int nameEnd, int value, int valueEnd) {
    switch (nameEnd - start) {
      case 4 -> {
        if (isName("host", start)) {
          host = once("Host", host, value, valueEnd);
        }
      }
      case 6 -> {
        if (isName("expect", start)) {
          if (!value(value, valueEnd).equalsIgnoreCase("100-continue")) {
            throw new HttpProblem(417, "the only expectation known here is 100-continue");
          }
          expectsContinue = true;
          return false;
        }
      }
      case 7 -> upgrades |= isName("upgrade", start) || isName("trailer", start);
      case 10 -> {
        if (isName("connection", start)) {
          for (String option : value(value, valueEnd).split(",", -1)) {
            closes |= option.strip().equalsIgnoreCase("close");
          }
        }
      }
      case 14 -> {
        if (isName("content-length", start)) {
          length = length(once("Content-Length", length, value, valueEnd));
          return false;
        }
      }
      case 16 -> {
        if (isName("content-encoding", start)
            && !value(value, valueEnd).equalsIgnoreCase("identity")) {
          throw new HttpProblem(415, "the body of a request must come without a content encoding");
        }
      }
      case 17 -> {
        if (isName("transfer-encoding", start)) {
          coding = once("Transfer-Encoding", coding, value, valueEnd);
          return false;
        }
      }
      default -> {}
    }
    return true;
  }

  private static String length(String digits) {
    if (digits.isEmpty()
        || digits.length() > MOST_LENGTH_DIGITS
        || !digits.chars().allMatch(digit -> digit >= '0' && digit <= '9')) {
      throw HttpProblem.malformed("Content-Length must be one number, of digits alone: " + digits);
    }
    return digits;
  }

  private void check() {
    if (host == null) {
      throw HttpProblem.malformed("the header Host is missing");
    }
    int colon = host.lastIndexOf(':');
    if (colon > host.lastIndexOf(']')
        && (colon == host.length() - 1
            || !host.chars().skip(colon + 1).allMatch(digit -> digit >= '0' && digit <= '9'))) {
      throw HttpProblem.malformed("the port in the header Host is not a number: " + host);
    }
    if (!authority.isEmpty() && !authority.substring(7).equalsIgnoreCase(host)) {
      throw HttpProblem.malformed(
          "the request line names the host " + authority.substring(7) + ", but Host is " + host);
    }
    if (coding == null) {
      return;
    }
    if (!coding.equalsIgnoreCase("chunked")) {
      throw new HttpProblem(501, "only the transfer encoding \"chunked\" is known");
    }
    if (length != null) {
      throw HttpProblem.malformed("a request has a length or comes in chunks, not both");
    }
  }

  private String once(String name, @Nullable String before, int value, int valueEnd) {
    if (before != null) {
      throw HttpProblem.malformed("the header " + name + " comes several times");
    }
    return value(value, valueEnd);
  }

  private boolean isName(String lowerCase, int start) {
    return text(start, start + lowerCase.length()).toLowerCase(Locale.ROOT).equals(lowerCase);
  }

  /** A value without the blanks and tabs around it, and without any other change. */
  private String value(int start, int valueEnd) {
    int from = start;
    int to = valueEnd;
    while (from < to && (bytes[from] == ' ' || bytes[from] == '\t')) {
      from++;
    }
    while (to > from && (bytes[to - 1] == ' ' || bytes[to - 1] == '\t')) {
      to--;
    }
    return text(from, to);
  }

  private String text(int from, int to) {
    return new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
  }

  /** What was sent, in visible characters, up to the end of the line. */
  private String shown(int from, int to) {
    StringBuilder shown = new StringBuilder();
    for (int i = from; i < to && bytes[i] != '\r'; i++) {
      shown.append(bytes[i] > ' ' && bytes[i] < 0x7f ? (char) bytes[i] : '?');
    }
    return shown.toString();
  }

  private void write(int from, int to) {
    forLibrary.write(bytes, from, to - from);
  }

  private static boolean[] token() {
    boolean[] token = new boolean[256];
    for (int letter = '!'; letter < 0x7f; letter++) {
      token[letter] = "\"(),/:;<=>?@[\\]{}".indexOf(letter) < 0;
    }
    return token;
  }
}
