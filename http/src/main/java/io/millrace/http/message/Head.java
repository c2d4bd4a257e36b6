package io.millrace.http.message;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The head of a request, parsed as strictly as RFC 9112 allows, so that a proxy between the client
 * and this server cannot have parsed another request. It says how the body is framed and whether
 * the connection is kept. Immutable once parsed.
 *
 * <p>Refused with 400: line ends other than CRLF, a request line that is not {@code METHOD PATH
 * HTTP/1.1} with single spaces, an empty header name or one with other characters than those of a
 * token (which includes white space before the colon, and folded lines), control characters in a
 * value, no Host or several, several lengths, a length that does not consist only of digits, a
 * length together with chunks, a path, query or host with characters that RFC 3986 does not allow.
 * Refused with other statuses: transfer codings except chunked (501), content codings (415),
 * expectations except 100-continue (417).
 */
public final class Head implements Headers {
  /** The length of a chunked body. */
  public static final long CHUNKED = -1;

  private static final int MAX_LENGTH_DIGITS = 18;
  private static final boolean[] TOKEN = token();
  private static final boolean[] HEX = hexadecimal();
  private static final byte[] NONE = new byte[0];
  private static final boolean[] PATH = characters("!$&'()*+,;=-._~:@/");
  private static final boolean[] QUERY = characters("!$&'()*+,;=-._~:@/?");
  private static final boolean[] HOST_NAME = characters("!$&'()*+,;=-._~%");
  private static final boolean[] HOST_LITERAL = characters("!$&'()*+,;=-._~:");

  /** The text of the head; empty once it is parsed. */
  private byte[] bytes;

  private final int end;

  /** The current offset of the parser. */
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
   * Parses a head.
   *
   * @param bytes an array that begins with the head
   * @param end the length of the head, with its empty line
   * @throws HttpProblem if it is malformed or requests something unsupported
   */
  public static Head read(byte[] bytes, int end) {
    Head head = new Head(bytes, end);
    head.requestLine();
    while (bytes[head.at] != '\r') {
      head.header();
    }
    if (head.at != end - 2) {
      throw HttpProblem.malformed("a line of the head ends in CR only; lines end in CR and LF");
    }
    head.check();
    head.bytes = NONE;
    return head;
  }

  /** The length of the head in bytes, with its empty line. */
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

  /** The query, without its question mark, as it was sent; null if there is none. */
  public @Nullable String query() {
    return query;
  }

  /** The value of the header Host: a name or an address, with or without a port. */
  public String host() {
    return host == null ? "" : host;
  }

  /**
   * The value of a header, in any case of its name; the first if there are several, null if none.
   */
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
          throw HttpProblem.malformed("the header " + name + " is given several times");
        }
        only = values.get(i);
      }
    }
    return only;
  }

  @Override
  public @Nullable String last(String name) {
    for (int i = names.size() - 1; i >= 0; i--) {
      if (names.get(i).equalsIgnoreCase(name)) {
        return values.get(i);
      }
    }
    return null;
  }

  /** Whether a header that is a comma-separated list contains a token, in any case. */
  public boolean hasToken(String name, String token) {
    for (int i = 0; i < names.size(); i++) {
      if (names.get(i).equalsIgnoreCase(name)) {
        for (String each : values.get(i).split(",", -1)) {
          if (each.strip().equalsIgnoreCase(token)) {
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

  /** Whether the client waits for status 100 before it sends the body. */
  public boolean expectsContinue() {
    return expectsContinue;
  }

  /** Whether the client wants the connection closed after the response. */
  public boolean closes() {
    return closes;
  }

  /**
   * Whether it is plain, so that an event loop may handle the request: a POST with Content-Length
   * that neither closes nor upgrades the connection and does not expect 100.
   */
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
      throw new HttpProblem(505, "HTTP/1.0 is not supported, use HTTP/1.1");
    }
    if (!protocol.equals("HTTP/1.1")) {
      throw HttpProblem.malformed(
          "the request line does not end in HTTP/1.1, the only supported protocol");
    }
    lineEnd();
    target(text(targetStart, targetEnd));
  }

  private static HttpProblem noRequestLine() {
    return HttpProblem.malformed("the request line is not METHOD PATH HTTP/1.1");
  }

  /** Parses path and query, and also scheme and host if they are given. */
  private void target(String target) {
    int start = 0;
    if (target.regionMatches(true, 0, "http://", 0, 7)) {
      start = target.indexOf('/', 7);
      if (start < 0) {
        throw HttpProblem.malformed("the request line names no path");
      }
      authority = target.substring(0, start);
    } else if (!target.startsWith("/") && !(target.equals("*") && method.equals("OPTIONS"))) {
      throw HttpProblem.malformed("the path in the request line must begin with /");
    }
    if (target.indexOf('#') >= 0) {
      throw HttpProblem.malformed("the path in the request line must not have a fragment: #");
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
              ? "a header line begins with white space; folded headers are not supported"
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
            "the header " + text(start, nameEnd) + " contains a control character");
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
      throw HttpProblem.malformed("a line of the head ends in CR only; lines end in CR and LF");
    }
    at += 2;
  }

  /** Evaluates a header that the server itself uses. */
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
            throw new HttpProblem(417, "the only supported expectation is 100-continue");
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
          throw new HttpProblem(415, "the body of a request must not have a content encoding");
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
        || digits.length() > MAX_LENGTH_DIGITS
        || !digits.chars().allMatch(digit -> digit >= '0' && digit <= '9')) {
      throw HttpProblem.malformed("Content-Length must be one number of digits: " + digits);
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
      throw new HttpProblem(501, "the only supported transfer encoding is \"chunked\"");
    }
    if (length != null) {
      throw HttpProblem.malformed(
          "a request must not have both Content-Length and Transfer-Encoding");
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
      throw HttpProblem.malformed("the header " + name + " is given several times");
    }
    return value;
  }

  /** A value without leading and trailing blanks and tabs. */
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

  /** The text up to the end of the line, with a question mark for each invisible character. */
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
