package io.millrace.http;

import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.Head;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.http.message.Response;
import io.millrace.http.websocket.WebSocket;
import io.millrace.wire.Utf8;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A request, from its complete head to the end of its response. For use by one thread at a time.
 */
public final class Request {
  private static final byte[] EMPTY = new byte[0];

  /** The status of a request without a response, because the client disconnected. */
  private static final int NO_RESPONSE = 499;

  /** The request that a thread serves. */
  static final ScopedValue<Request> CURRENT = ScopedValue.newInstance();

  private final Head head;
  private final String routed;
  private final HttpLimits limits;
  private final InetAddress peer;
  private AccessCheck.@Nullable Source source;
  private final long beganNanos = System.nanoTime();
  private Routes.@Nullable Match match;
  private @Nullable Caller caller;
  private @Nullable HttpProblem refusal;
  private @Nullable Route route;
  private AccessCheck.@Nullable Attempt attempt;
  private boolean admitted;
  private Change change = Change.UNKNOWN;
  private @Nullable String action;
  private @Nullable IntConsumer answered;
  private boolean recorded;
  private int status = NO_RESPONSE;
  private boolean waited;
  private volatile boolean submitted;

  /** The thread that serves it; null if an event loop does, with the complete body. */
  private @Nullable RequestThread thread;

  private byte @Nullable [] whole;
  private @Nullable Query query;
  private @Nullable InputStream body;

  /** The complete body that a thread has read; null if it has read none. */
  private @Nullable BufferedBody buffered;

  /**
   * A request whose head is complete.
   *
   * @param routed the path that the routes of its site know: the end of that of the head, or all
   */
  Request(Head head, String routed, HttpLimits limits, InetAddress peer) {
    this.head = head;
    this.routed = routed;
    this.limits = limits;
    this.peer = peer;
  }

  /**
   * What a request changed, for the audit log.
   *
   * @param area of what {@code scope} is a name; null if the change is not within one
   * @param scope the group, queue, job type or node in which something was changed
   * @param count how many things were changed; 0 for none
   * @param first the id of the first of them; null if that is not known
   * @param last the id of the last of them
   */
  public record Change(
      Caller.Reach.@Nullable Area area,
      String scope,
      long count,
      @Nullable String first,
      @Nullable String last) {
    private static final Change UNKNOWN = new Change(null, "", 1, null, null);

    /** One thing with an id, in a scope. */
    public static Change of(Caller.Reach.Area area, String scope, String id) {
      return new Change(area, scope, 1, id, id);
    }
  }

  /** Sets the complete body, for handling on an event loop. */
  Request withBody(byte[] content) {
    whole = content;
    return this;
  }

  /** Sets the thread that serves it and reads the body. */
  void servedBy(RequestThread owner) {
    thread = owner;
    whole = null;
    body = null;
  }

  Head head() {
    return head;
  }

  /** The path by which its route is found. */
  String routed() {
    return routed;
  }

  /** The matched route; null until the caller is known. */
  Routes.@Nullable Match match() {
    return match;
  }

  void match(Routes.Match found) {
    match = found;
  }

  /** Whether the request has been let in. */
  public boolean isAdmitted() {
    return admitted;
  }

  /** Notes that the request is let in. */
  void admit() {
    admitted = true;
  }

  void route(Route found) {
    route = found;
  }

  /** Why it has not been let in; null if it was not refused. */
  @Nullable HttpProblem refusal() {
    return refusal;
  }

  void refusal(HttpProblem problem) {
    refusal = problem;
  }

  /** Sets the sender, once it is known: by the access check, or else by the handler. */
  public void identify(Caller found) {
    caller = found;
  }

  /**
   * The form of errors of its route. A refusal before the caller is known has the plain form,
   * unless errors of the route are problem details.
   */
  ErrorForm errors() {
    if (match != null) {
      return match.endpoint().route().errors();
    }
    return route != null && route.errors().equals(ErrorForm.PROBLEM_DETAILS)
        ? ErrorForm.PROBLEM_DETAILS
        : ErrorForm.PLAIN;
  }

  /** The status of the response; 499 if there is none. */
  int status() {
    return status;
  }

  void status(int given) {
    status = given;
  }

  boolean hasSubmitted() {
    return submitted;
  }

  /** Whether it has waited for an event, so that it is not logged as slow. */
  boolean hasWaited() {
    return waited;
  }

  /** The time since its head was complete, in nanoseconds. */
  public long nanos() {
    return System.nanoTime() - beganNanos;
  }

  /**
   * Sets what is called once, with the status of the response, before the response is sent; it must
   * be quick and must not fail. Only the last one that was set is called.
   */
  public void onAnswer(IntConsumer action) {
    answered = action;
  }

  /** Calls what was set by {@link #onAnswer}. */
  void answered(int withStatus) {
    IntConsumer action = answered;
    if (action != null) {
      answered = null;
      action.accept(withStatus);
    }
  }

  /** Method and path. */
  @Override
  public String toString() {
    return head.method() + " " + head.path();
  }

  /** The method as it was sent. */
  public String method() {
    return head.method();
  }

  /** The path as it was sent, without the query. */
  public String path() {
    return head.path();
  }

  /** The path and the query, as they were sent. */
  public String target() {
    return head.query() == null ? head.path() : head.path() + "?" + head.query();
  }

  /** The request that the current thread serves; null if it serves none. */
  public static @Nullable Request current() {
    return CURRENT.isBound() ? CURRENT.get() : null;
  }

  /** The address of the client; if a proxy forwards for it, what the access check makes of it. */
  public InetAddress client() {
    return source == null ? peer : source.client();
  }

  /** Where it comes from; null until that was asked. */
  AccessCheck.@Nullable Source source() {
    return source;
  }

  void source(AccessCheck.Source found) {
    source = found;
  }

  /**
   * The route, as soon as access is being checked.
   *
   * @throws IllegalStateException before
   */
  public Route route() {
    if (route == null) {
      throw new IllegalStateException("the route is not known yet");
    }
    return route;
  }

  /**
   * What the access check was given.
   *
   * @throws IllegalStateException before access is checked
   */
  public AccessCheck.Attempt attempt() {
    if (attempt == null) {
      throw new IllegalStateException("access is not checked yet");
    }
    return attempt;
  }

  void attempt(AccessCheck.Attempt given) {
    attempt = given;
  }

  /**
   * What it does to what, for the audit log: the action of its route, unless {@link #actsAs} was
   * called.
   */
  public @Nullable String action() {
    return action == null ? route().action() : action;
  }

  /** Gives it another action than its route has; it then has an audit entry of its own. */
  public void actsAs(String kindAndVerb) {
    action = kindAndVerb;
  }

  /**
   * Whether the change has an audit entry of its own: if the route needs the role operator or
   * admin, or {@link #actsAs} was called. Other changes are counted together.
   */
  public boolean isRecordedApart() {
    Caller.Role role = route().role();
    return action != null || role == Caller.Role.OPERATOR || role == Caller.Role.ADMIN;
  }

  /** Whether the change is in the audit log already, since both were one transaction. */
  public boolean isRecorded() {
    return recorded;
  }

  /** Notes that the change is in the audit log. */
  public void recorded() {
    recorded = true;
  }

  /** What it has changed, as far as the handler has said so. */
  public Change change() {
    return change;
  }

  /** Notes in what the request changes something, for the audit log. */
  public void concerns(Caller.Reach.Area area, String scope) {
    change = new Change(area, scope, change.count, change.first, change.last);
  }

  /**
   * Notes what the request has changed, for the audit log. The default is one thing, named by the
   * last parameter of the path.
   *
   * @param count how many things; 0 for none
   * @param first the id of the first; null if that is not known
   * @param last the id of the last
   */
  public void changed(long count, @Nullable String first, @Nullable String last) {
    change = new Change(change.area, change.scope, count, first, last);
  }

  /**
   * Counts, for the audit log, a change that was made or refused on the WebSocket that this request
   * opened. Can be called by any thread, and does not block.
   *
   * @param done whether it was made; otherwise it was refused
   */
  public void changedBySocket(String kindAndVerb, Change made, boolean done) {
    serving().audit().changed(this, kindAndVerb, made, done);
  }

  /**
   * Checks whether the client may show a secret in the content of the request, or on the WebSocket
   * that it opened. Can be called by any thread.
   *
   * @throws HttpProblem 429 if it has shown too many wrong ones
   */
  public void checkPace() {
    serving().access().checkPace(client());
  }

  /** Counts a wrong secret in such content, so that the client is slowed down. As above. */
  public void wrongSecret(String secret) {
    serving().access().wrongSecret(client(), secret);
  }

  /** Whether the sender is known; always true in a handler. */
  public boolean hasCaller() {
    return caller != null;
  }

  /** The last parameter of the path; null if there is none. */
  public @Nullable String lastParameter() {
    Routes.Match found = match;
    return found == null || found.parameters().isEmpty() ? null : found.parameters().getLast();
  }

  /** The sender. */
  public Caller caller() {
    if (caller == null) {
      throw new IllegalStateException("the caller is not known yet");
    }
    return caller;
  }

  /** Whether the method is HEAD, so that the response is sent without its body. */
  public boolean isHead() {
    return head.method().equals("HEAD");
  }

  /**
   * The decoded value of a path parameter; may be empty.
   *
   * @throws IllegalArgumentException if the route has no parameter of this name
   */
  public String parameter(String name) {
    Routes.Match found = Objects.requireNonNull(match);
    int index = found.endpoint().names().indexOf(name);
    if (index < 0) {
      throw new IllegalArgumentException("the route has no parameter " + name);
    }
    return found.parameters().get(index);
  }

  /**
   * The query parameters.
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

  /** The value of a header, in any case of its name; the first if there are several. */
  public Optional<String> header(String name) {
    return Optional.ofNullable(head.first(name));
  }

  /** The media type of the body in lower case, without parameters; empty if it is not given. */
  public String mediaType() {
    String type = head.first("Content-Type");
    if (type == null) {
      return "";
    }
    int end = type.indexOf(';');
    return (end < 0 ? type : type.substring(0, end)).strip().toLowerCase(Locale.ROOT);
  }

  /** Whether the request has a body. A body of length 0 does not count. */
  public boolean hasBody() {
    return head.bodyBytes() != 0;
  }

  /** The length of the body in bytes; 0 if there is none, -1 if it is chunked. */
  public long bodyLength() {
    return head.bodyBytes();
  }

  /**
   * The complete body, which must be text.
   *
   * @throws HttpProblem 413 if it is longer than the server's limit, 400 if it is not UTF-8, 503 if
   *     there is no memory for it now
   * @throws IOException if the client stops sending, or sends a malformed or too slow body
   */
  public byte[] body() throws IOException {
    return body(limits.maxBodyBytes());
  }

  /** The same as {@link #body()}, with a limit in bytes; the server's limit applies too. */
  public byte[] body(int maxBytes) throws IOException {
    byte[] text = content(Math.min(maxBytes, limits.maxBodyBytes()));
    String error = Utf8.error(text);
    if (error != null) {
      throw HttpProblem.malformed("the body " + error);
    }
    return text;
  }

  /**
   * The same as {@link #body()}, for a caller that parses it to a JSON tree. Memory is reserved for
   * the tree too, which may take thirty times as much as the text.
   *
   * @throws HttpProblem as {@link #body()}; also 413 if the tree can never fit into the memory for
   *     requests
   */
  public byte[] jsonBody() throws IOException {
    byte[] text = body();
    if (thread != null) {
      buffered().reserveTree(text);
    }
    return text;
  }

  private byte[] content(int limit) throws IOException {
    if (!hasBody()) {
      return EMPTY;
    }
    byte[] complete = whole;
    if (complete == null) {
      return buffered().read(bodyLength(), limit);
    }
    if (complete.length > limit) {
      throw BufferedBody.tooLarge(limit);
    }
    return complete;
  }

  private BufferedBody buffered() {
    BufferedBody opened = buffered;
    if (opened == null) {
      opened = new BufferedBody(serving().body(), serving().connection().memory());
      buffered = opened;
    }
    return opened;
  }

  private RequestThread serving() {
    if (thread == null) {
      throw new IllegalStateException("a request on an event loop must not wait");
    }
    return thread;
  }

  /** Releases the memory reserved for the body, at the end of the request. */
  void releaseMemory() {
    if (buffered != null) {
      buffered.release();
    }
  }

  /** The body as a stream, without a limit of its length; the same stream for each call. */
  public InputStream bodyStream() {
    InputStream opened = body;
    if (opened == null) {
      opened = whole == null ? serving().body() : new ByteArrayInputStream(whole);
      body = opened;
    }
    return opened;
  }

  /**
   * Notes that a command is about to be handed to the store. If the server fails after that, the
   * client is told that the outcome is unknown.
   */
  public void submitted() {
    submitted = true;
  }

  /** Calls {@link #submitted} for the request that the current thread serves, if there is one. */
  public static void noteSubmission() {
    if (CURRENT.isBound()) {
      CURRENT.get().submitted();
    }
  }

  /**
   * The response that switches the connection to WebSocket.
   *
   * @param limits the limits of the client's messages
   * @param opener opens the WebSocket, on the thread of this request
   * @throws HttpProblem 426 if the request does not ask for WebSocket 13, 400 if its handshake is
   *     malformed
   */
  public Response webSocket(WebSocket.Limits limits, Response.SocketOpener opener) {
    Map<String, String> handshake = Upgrade.handshake(head);
    if (isHead() || hasBody()) {
      throw HttpProblem.malformed("a WebSocket handshake must be GET without a body");
    }
    return new Response.Upgraded(handshake, limits, opener);
  }

  /**
   * Begins a wait for an event. Runs {@code action} on another thread if the client disconnects,
   * its credentials are revoked, or the server stops. Close the result when the wait ends.
   */
  public PendingWait beginWait(Consumer<PendingWait.Cause> action) {
    waited = true;
    return PendingWait.begin(serving().inFlight(), serving(), caller().validity(), action);
  }
}
