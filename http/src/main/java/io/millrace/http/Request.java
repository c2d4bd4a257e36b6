package io.millrace.http;

import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.Head;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.http.message.Reply;
import io.millrace.http.websocket.WebSocket;
import io.millrace.wire.Utf8;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request on its way, from its complete head to the end of its answer: it is read, checked and
 * routed once, whoever answers it. For use by one thread at a time.
 */
public final class Request {
  private static final byte[] EMPTY = new byte[0];
  private static final int FIRST_READ_BYTES = 64 << 10;

  /** What a value or a name in a JSON tree takes beside its text. */
  private static final int TREE_NODE_BYTES = 64;

  /** The status of "the client went away", until there is another. */
  private static final int NO_ANSWER = 499;

  /** The request that a thread serves. */
  static final ScopedValue<Request> CURRENT = ScopedValue.newInstance();

  private final Head head;
  private final HttpLimits limits;
  private final long beganNanos = System.nanoTime();
  private Routes.@Nullable Match match;
  private @Nullable Caller caller;
  private int status = NO_ANSWER;
  private boolean waited;
  private volatile boolean submitted;

  /** What serves it; null if an event loop does, and the body has come as a whole. */
  private @Nullable RequestThread thread;

  private byte @Nullable [] whole;
  private @Nullable Query query;
  private @Nullable InputStream body;
  private long reservedBytes;

  /** A request whose head is complete. */
  Request(Head head, HttpLimits limits) {
    this.head = head;
    this.limits = limits;
  }

  /** The same with its whole body, for an event loop. */
  Request withBody(byte[] content) {
    whole = content;
    return this;
  }

  /** Lets a thread serve it, which reads the body. */
  void servedBy(RequestThread serving) {
    thread = serving;
    whole = null;
    body = null;
  }

  Head head() {
    return head;
  }

  /** The route; null until the request was let in. */
  Routes.@Nullable Match match() {
    return match;
  }

  void match(Routes.Match found) {
    match = found;
  }

  /** Whether access was checked and the route was found. */
  boolean isAdmitted() {
    return match != null && caller != null;
  }

  void caller(Caller found) {
    caller = found;
  }

  /** How the errors of its route look. */
  ErrorForm errors() {
    return match == null ? ErrorForm.PLAIN : match.endpoint().route().errors();
  }

  /** The status of the answer. */
  int status() {
    return status;
  }

  void status(int given) {
    status = given;
  }

  boolean hasSubmitted() {
    return submitted;
  }

  /** Whether it has waited for events, so that its duration says nothing. */
  boolean hasWaited() {
    return waited;
  }

  /** How long it has taken so far. */
  long nanos() {
    return System.nanoTime() - beganNanos;
  }

  /** Method and path. */
  @Override
  public String toString() {
    return head.method() + " " + head.path();
  }

  /** The path as it was sent, without the query. */
  public String path() {
    return head.path();
  }

  /** Who sends it. */
  public Caller caller() {
    if (caller == null) {
      throw new IllegalStateException("the caller was not checked");
    }
    return caller;
  }

  /** Whether only the header of the answer is wanted. */
  public boolean isHead() {
    return head.method().equals("HEAD");
  }

  /**
   * The decoded path parameter of this name; may be empty.
   *
   * @throws IllegalArgumentException when the route has none of this name
   */
  public String parameter(String name) {
    Routes.Match found = Objects.requireNonNull(match);
    int place = found.endpoint().names().indexOf(name);
    if (place < 0) {
      throw new IllegalArgumentException("the route has no parameter " + name);
    }
    return found.parameters().get(place);
  }

  /**
   * The parameters after the question mark.
   *
   * @throws HttpProblem 400 if they are malformed
   */
  public Query query() {
    Query read = query;
    if (read == null) {
      read = Query.parse(head.query());
      query = read;
    }
    return read;
  }

  /** The value of a header, the first if there are several. */
  public Optional<String> header(String name) {
    return Optional.ofNullable(head.first(name));
  }

  /** The media type of the body in lower case, without parameters; empty if none is given. */
  public String mediaType() {
    String type = head.first("Content-Type");
    if (type == null) {
      return "";
    }
    int end = type.indexOf(';');
    return (end < 0 ? type : type.substring(0, end)).strip().toLowerCase(Locale.ROOT);
  }

  /** Whether a body comes with it; one of length 0 is none. */
  public boolean hasBody() {
    return head.bodyBytes() != 0;
  }

  /** The length of the body as announced; -1 if it comes in chunks, 0 if there is none. */
  public long bodyLength() {
    return head.bodyBytes();
  }

  /**
   * The whole body, which is text.
   *
   * @throws HttpProblem 413 if it is longer than the server's limit, 400 if it is not UTF-8
   * @throws IOException when the client stops sending
   */
  public byte[] body() throws IOException {
    return body(limits.maxBodyBytes());
  }

  /** The whole body, text of at most so many bytes, or of the server's limit if that is lower. */
  public byte[] body(int mostBytes) throws IOException {
    byte[] text = content(Math.min(mostBytes, limits.maxBodyBytes()));
    String mistake = Utf8.error(text);
    if (mistake != null) {
      throw HttpProblem.malformed("the body " + mistake);
    }
    return text;
  }

  /**
   * The whole body, of which a JSON tree is to be made. Memory is reserved for the tree too, which
   * may take thirty times as much as the text.
   *
   * @throws HttpProblem as {@link #body()}; also 413 if there can never be room for the tree, 503
   *     if there is none now
   */
  public byte[] jsonBody() throws IOException {
    byte[] text = body();
    if (thread != null) {
      RequestMemory memory = memory();
      long more = (long) TREE_NODE_BYTES * countNodes(text);
      long total = reservedBytes + more;
      if (total > memory.largestBytes()) {
        throw HttpProblem.tooLarge(
            "the JSON of the body has too many values: they would take "
                + total
                + " bytes of memory, and one request may have "
                + memory.largestBytes());
      }
      if (!memory.reserve(more, total)) {
        throw RequestMemory.full();
      }
      reservedBytes = total;
    }
    return text;
  }

  /** About how many values and names a JSON text has, whether or not it is well formed. */
  private static int countNodes(byte[] text) {
    int count = 1;
    boolean quoted = false;
    for (int i = 0; i < text.length; i++) {
      switch (text[i]) {
        case '"' -> quoted = !quoted;
        case '\\' -> i++;
        case ',', ':', '[', '{' -> count += quoted ? 0 : 1;
        default -> {}
      }
    }
    return count;
  }

  private byte[] content(int limit) throws IOException {
    if (!hasBody()) {
      return EMPTY;
    }
    byte[] there = whole;
    if (there != null) {
      if (there.length > limit) {
        throw tooLarge(limit);
      }
      return there;
    }
    int most = (int) Math.min(limit, memory().largestBytes());
    long announced = bodyLength();
    if (announced > most) {
      throw tooLarge(most);
    }
    int first = announced < 0 ? FIRST_READ_BYTES : (int) Math.min(announced, FIRST_READ_BYTES);
    byte[] content = resized(EMPTY, Math.min(first, most + 1));
    int length = 0;
    InputStream in = bodyStream();
    while (true) {
      int read = in.read(content, length, content.length - length);
      if (read < 0) {
        break;
      }
      length += read;
      if (length == announced) {
        break;
      }
      if (length > most) {
        throw tooLarge(most);
      }
      if (length == content.length) {
        content = resized(content, (int) Math.min(2L * length, most + 1L));
      }
    }
    return length == content.length ? content : Arrays.copyOf(content, length);
  }

  /** The budget for what is read of the body of a request that a thread serves. */
  private RequestMemory memory() {
    return serving().connection().memory();
  }

  private RequestThread serving() {
    if (thread == null) {
      throw new IllegalStateException("this request has no thread, so that it may not wait");
    }
    return thread;
  }

  /** The same bytes with room for more, for which memory is reserved until the request is over. */
  private byte[] resized(byte[] content, int bytes) {
    int more = bytes - content.length;
    if (!memory().reserve(more, bytes)) {
      throw RequestMemory.full();
    }
    reservedBytes += more;
    return Arrays.copyOf(content, bytes);
  }

  /** Gives back what was reserved, when the request is over. */
  void over() {
    memory().release(reservedBytes);
    reservedBytes = 0;
  }

  /** The body piece by piece, of any length; the same stream each time. */
  public InputStream bodyStream() {
    InputStream opened = body;
    if (opened == null) {
      opened = whole == null ? serving().body() : new ByteArrayInputStream(whole);
      body = opened;
    }
    return opened;
  }

  /**
   * Notes that a command is about to be handed to the store: if the server fails from now on, the
   * client is told that the outcome is unknown.
   */
  public void submitted() {
    submitted = true;
  }

  /** The same for the request that the calling thread serves, if any. */
  public static void noteSubmission() {
    if (CURRENT.isBound()) {
      CURRENT.get().submitted();
    }
  }

  /**
   * The answer that switches the connection to WebSocket.
   *
   * @param limits what the client may send
   * @param opener begins to speak with it, on the thread of this request
   * @throws HttpProblem 426 if it does not ask for that, 400 if its handshake is malformed
   */
  public Reply webSocket(WebSocket.Limits limits, Reply.SocketOpener opener) {
    Map<String, String> answer = Upgrade.handshake(head);
    if (isHead() || hasBody()) {
      throw HttpProblem.malformed("WebSocket begins with GET and no body");
    }
    return new Reply.Upgraded(answer, limits, opener);
  }

  /**
   * Begins a wait for an event: runs {@code action}, on another thread, when the client has gone or
   * the server stops. Close it when the wait is over.
   */
  public PendingWait beginWait(Consumer<PendingWait.Cause> action) {
    waited = true;
    return PendingWait.begin(serving().inFlight(), serving(), action);
  }

  private static HttpProblem tooLarge(int most) {
    return HttpProblem.tooLarge("the body exceeds the limit of " + most + " bytes");
  }
}
