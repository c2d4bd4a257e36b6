package io.millrace.http.message;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The head of a request, read as strictly as RFC 9112 allows, so that no proxy between the client
 * and this server can have understood another request. It decides how the body is framed and
 * whether the connection is kept. Immutable once read.
 *
 * <p>Refused with 400: line ends other than CRLF, a request line that is not {@code METHOD PATH
 * HTTP/1.1} with single spaces, an empty header name or one with other characters than those of a
 * token (so also white space before the colon, and folded lines), control characters in a value,
 * not exactly one Host, several lengths, a length that is not digits alone, a length beside chunks,
 * a path, query or host with other characters than RFC 3986 gives them. Other transfer codings are
 * 501, content codings 415, unknown expectations 417.
 */
public final class Head implements Headers {
  /** The length of a body that comes in chunks. */
  public static final long CHUNKED = -1;

  private static final int MOST_LENGTH_DIGITS = 18;
  private static final boolean[] TOKEN = token();
  private static final boolean[] HEX = hexadecimal();
  private static final byte[] NONE = new byte[0];
  private static final boolean[] PATH = characters("!$&'()*+,;=-._~:@/");
  private static final boolean[] QUERY = characters("!$&'()*+,;=-._~:@/?");
  private static final boolean[] HOST_NAME = characters("!$&'()*+,;=-._~%");
  private static final boolean[] HOST_LITERAL = characters("!$&'()*+,;=-._~:");

  /** What is read; only while it is being read. */
  private byte[] bytes;

  private final int end;

  /** Where reading stands. */
  private int at;

  private String method = "";
  private String authority = "";
  private String path = "";
  private @Nullable String query;
  private final List<String> names = new ArrayList<>();
  private final List<String> values = new ArrayList<>();
  private @Nullable String host;
  private @Nullable String length;
  private @Nullable String coding;
  private boolean expectsContinue;
  private boolean closes;
  private boolean upgrades;

  private Head(byte[] bytes, int end) {
    this.bytes = bytes;
    this.end = end;
  }

  /**
   * Reads a head.
   *
   * @param bytes begin with the head
   * @param end where it ends, behind its empty line
   * @throws HttpProblem if it is malformed or asks for what is not known here
   */
  public static Head read(byte[] bytes, int end) {
    Head head = new Head(bytes, end);
    head.requestLine();
    while (bytes[head.at] != '\r') {
      head.header();
    }
    if (head.at != end - 2) {
      throw HttpProblem.malformed("a line of the head ends in CR alone; lines end in CR and LF");
    }
    head.check();
    head.bytes = NONE;
    return head;
  }

  /** How many bytes it has, with its empty line. */
  public int length() {
    return end;
  }

  /** The method. */
  public String method() {
    return method;
  }

  /** The path, as it was sent. */
  public String path() {
    return path;
  }

  /** What follows the question mark, as it was sent; null if there is none. */
  public @Nullable String query() {
    return query;
  }

  /** The header Host: a name or an address, perhaps with a port. */
  public String host() {
    return host == null ? "" : host;
  }

  /** The value of a header, the first if there are several; null if there is none. */
  public @Nullable String first(String name) {
    for (int i = 0; i < names.size(); i++) {
      if (names.get(i).equalsIgnoreCase(name)) {
        return values.get(i);
      }
    }
    return null;
  }

  @Override
  public @Nullable String only(String name) {
    String only = null;
    for (int i = 0; i < names.size(); i++) {
      if (names.get(i).equalsIgnoreCase(name)) {
        if (only != null) {
          throw HttpProblem.malformed("the header " + name + " comes several times");
        }
        only = values.get(i);
      }
    }
    return only;
  }

  /** Whether a header that is a list of words, perhaps sent in parts, has this word in any case. */
  public boolean lists(String name, String word) {
    for (int i = 0; i < names.size(); i++) {
      if (names.get(i).equalsIgnoreCase(name)) {
        for (String each : values.get(i).split(",", -1)) {
          if (each.strip().equalsIgnoreCase(word)) {
            return true;
          }
        }
      }
    }
    return false;
  }

  /** The length of the body, 0 for none, or {@link #CHUNKED}. */
  public long bodyBytes() {
    return coding != null ? CHUNKED : length == null ? 0 : Long.parseLong(length);
  }

  /** Whether the client waits for 100 before it sends the body. */
  public boolean expectsContinue() {
    return expectsContinue;
  }

  /** Whether the client wants the connection closed after the answer. */
  public boolean closes() {
    return closes;
  }

  /** Whether an event loop may answer it: a POST of a stated length with nothing special. */
  public boolean isPlain() {
    return method.equals("POST")
        && length != null
        && coding == null
        && !expectsContinue
        && !closes
        && !upgrades;
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
    int targetStart = ++at;
    while (bytes[at] != ' ' && bytes[at] != '\r') {
      at++;
    }
    int targetEnd = at;
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
    target(text(targetStart, targetEnd));
  }

  private static HttpProblem noRequestLine() {
    return HttpProblem.malformed("the request line is not METHOD PATH HTTP/1.1");
  }

  /**
   * Takes path and query, without scheme and host, which must name this Host, if they are there.
   */
  private void target(String target) {
    int start = 0;
    if (target.regionMatches(true, 0, "http://", 0, 7)) {
      start = target.indexOf('/', 7);
      if (start < 0) {
        throw HttpProblem.malformed("the request line names no path");
      }
      authority = target.substring(0, start);
    } else if (!target.startsWith("/") && !(target.equals("*") && method.equals("OPTIONS"))) {
      throw HttpProblem.malformed("the path in the request line begins with /");
    }
    if (target.indexOf('#') >= 0) {
      throw HttpProblem.malformed("the path in the request line has no fragment: #");
    }
    int mark = target.indexOf('?', start);
    path = checked(mark < 0 ? target.substring(start) : target.substring(start, mark), PATH);
    query = mark < 0 ? null : checked(target.substring(mark + 1), QUERY);
  }

  private static String checked(String text, boolean[] allowed) {
    for (int i = 0; i < text.length(); i++) {
      char letter = text.charAt(i);
      if (letter == '%') {
        if (i + 2 >= text.length()
            || !HEX[text.charAt(i + 1) & 0xff]
            || !HEX[text.charAt(i + 2) & 0xff]) {
          throw HttpProblem.malformed(
              "the path or query has % without two hexadecimal digits: "
                  + text.substring(i, Math.min(i + 3, text.length())));
        }
      } else if (!allowed[letter & 0xff]) {
        throw HttpProblem.malformed(
            "the path or query has a character that must be percent-encoded");
      }
    }
    return text;
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
    String name = text(start, nameEnd);
    String text = value(value, at);
    lineEnd();
    names.add(name);
    values.add(text);
    note(name, text);
  }

  private void lineEnd() {
    if (bytes[at] != '\r' || bytes[at + 1] != '\n') {
      throw HttpProblem.malformed("a line of the head ends in CR alone; lines end in CR and LF");
    }
    at += 2;
  }

  /** Notes a header that matters here. */
  private void note(String name, String value) {
    switch (name.length()) {
      case 4 -> {
        if (name.equalsIgnoreCase("host")) {
          host = once("Host", host, value);
        }
      }
      case 6 -> {
        if (name.equalsIgnoreCase("expect")) {
          if (!value.equalsIgnoreCase("100-continue")) {
            throw new HttpProblem(417, "the only expectation known here is 100-continue");
          }
          expectsContinue = true;
        }
      }
      case 7 -> upgrades |= name.equalsIgnoreCase("upgrade") || name.equalsIgnoreCase("trailer");
      case 10 -> {
        if (name.equalsIgnoreCase("connection")) {
          for (String option : value.split(",", -1)) {
            closes |= option.strip().equalsIgnoreCase("close");
          }
        }
      }
      case 14 -> {
        if (name.equalsIgnoreCase("content-length")) {
          length = length(once("Content-Length", length, value));
        }
      }
      case 16 -> {
        if (name.equalsIgnoreCase("content-encoding") && !value.equalsIgnoreCase("identity")) {
          throw new HttpProblem(415, "the body of a request must come without a content encoding");
        }
      }
      case 17 -> {
        if (name.equalsIgnoreCase("transfer-encoding")) {
          coding = once("Transfer-Encoding", coding, value);
        }
      }
      default -> {}
    }
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
    checkHost(host);
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

  private static void checkHost(String host) {
    int colon = host.lastIndexOf(':');
    boolean hasPort = colon > host.lastIndexOf(']');
    if (hasPort
        && (colon == host.length() - 1
            || !host.chars().skip(colon + 1).allMatch(digit -> digit >= '0' && digit <= '9'))) {
      throw HttpProblem.malformed("the port in the header Host is not a number: " + host);
    }
    String name = hasPort ? host.substring(0, colon) : host;
    boolean literal = name.startsWith("[") && name.endsWith("]");
    String plain = literal ? name.substring(1, name.length() - 1) : name;
    boolean[] allowed = literal ? HOST_LITERAL : HOST_NAME;
    if (plain.isEmpty() || !plain.chars().allMatch(letter -> allowed[letter & 0xff])) {
      throw HttpProblem.malformed("the header Host does not name a host: " + host);
    }
  }

  private static String once(String name, @Nullable String before, String value) {
    if (before != null) {
      throw HttpProblem.malformed("the header " + name + " comes several times");
    }
    return value;
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

  /** A table of letters, digits and these characters. */
  private static boolean[] characters(String others) {
    boolean[] allowed = new boolean[256];
    for (int letter = 0; letter < 0x7f; letter++) {
      allowed[letter] = Character.isLetterOrDigit(letter) || others.indexOf(letter) >= 0;
    }
    return allowed;
  }

  private static boolean[] hexadecimal() {
    boolean[] hex = new boolean[256];
    for (char digit : "0123456789abcdefABCDEF".toCharArray()) {
      hex[digit] = true;
    }
    return hex;
  }

  private static boolean[] token() {
    boolean[] token = new boolean[256];
    for (int letter = '!'; letter < 0x7f; letter++) {
      token[letter] = "\"(),/:;<=>?@[\\]{}".indexOf(letter) < 0;
    }
    return token;
  }
}
