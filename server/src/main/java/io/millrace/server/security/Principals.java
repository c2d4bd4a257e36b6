package io.millrace.server.security;

import io.millrace.access.AccessDirectory;
import io.millrace.access.AccessKey;
import io.millrace.access.Grant;
import io.millrace.access.GroupRoles;
import io.millrace.access.Reach;
import io.millrace.access.Role;
import io.millrace.http.Caller;
import io.millrace.http.message.HttpProblem;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Which principal shows which credentials: a key as {@code Authorization: Bearer KEY} or as the
 * password of HTTP Basic, or a name with its password by HTTP Basic. Besides those of the store
 * there are two keys of this process: one for the programs that the server itself starts on this
 * machine, and one with which the first administrator can sign in. Safe for use by threads.
 */
public final class Principals {
  /** How long the key for the first administrator counts. */
  public static final Duration BOOTSTRAP_TIME = Duration.ofHours(24);

  private static final Caller BOOTSTRAP =
      new Caller("bootstrap", Caller.OWNER.roles(), Caller.Reach.EVERYTHING);
  private static final int SECRET_BYTES = 32;

  private final AccessDirectory directory;
  private final InstantSource clock;
  private final Map<Grant, Caller> callers = new ConcurrentHashMap<>();
  private final Token local;
  private final String bootstrapKey;
  private final Token bootstrap;
  private final Instant bootstrapEnd;

  /**
   * The principals of a directory.
   *
   * @param random secret and unpredictable; used under its own lock
   * @param localKey opens everything, see {@link #newLocalKey}
   */
  public Principals(
      AccessDirectory directory, InstantSource clock, RandomGenerator random, String localKey) {
    this.directory = directory;
    this.clock = clock;
    this.local = Token.of(localKey);
    this.bootstrapKey = "bootstrap-" + secret(random);
    this.bootstrap = Token.of(bootstrapKey);
    this.bootstrapEnd = clock.instant().plus(BOOTSTRAP_TIME);
  }

  private static String secret(RandomGenerator random) {
    byte[] secret = new byte[SECRET_BYTES];
    synchronized (random) {
      random.nextBytes(secret);
    }
    return Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
  }

  /**
   * A key for programs that the server starts on this machine. It counts only in this process.
   *
   * @param random secret and unpredictable
   */
  public static String newLocalKey(RandomGenerator random) {
    return "local-" + secret(random);
  }

  /**
   * The key for the first administrator: it has all roles until a principal with the role admin,
   * unlimited, has a key or a password, for at most {@link #BOOTSTRAP_TIME}, and ends with this
   * process.
   *
   * @return empty if it does not count
   */
  public Optional<String> bootstrapKey() {
    return clock.instant().isBefore(bootstrapEnd) && !directory.hasUnlimited(Role.ADMIN)
        ? Optional.of(bootstrapKey)
        : Optional.empty();
  }

  /** What HTTP Basic says of the caller. */
  sealed interface Finding {
    /** It holds the name and password of this caller. */
    record Known(Caller caller) implements Finding {}

    /** It holds no credentials of a principal. */
    record Nothing() implements Finding {}

    /** It holds a name and a password that do not belong together. */
    record Wrong() implements Finding {}

    /** It holds a password that takes long to check. */
    record Unchecked() implements Finding {}
  }

  /**
   * Who shows a key in this header {@code Authorization}.
   *
   * @return null if it holds none
   * @throws HttpProblem 401 if it holds a key that does not count
   */
  @Nullable Caller byKey(String authorization, @Nullable Token token) {
    String bearer = Token.bearer(authorization).orElse(null);
    if (bearer != null) {
      return byText(bearer);
    }
    UserPassword pair = pair(authorization, token);
    return pair == null ? null : byText(pair.password());
  }

  /** Null if it holds no name and password, or the token as a password. */
  private static @Nullable UserPassword pair(String authorization, @Nullable Token token) {
    UserPassword pair =
        UserPassword.isBasic(authorization) ? UserPassword.read(authorization) : null;
    return pair == null || (token != null && token.is(pair.password())) ? null : pair;
  }

  /**
   * Who shows a name and a password in this header {@code Authorization}. A name of nobody takes as
   * long as a wrong password.
   *
   * @param token the server's; null for none
   * @param required whether a caller needs credentials; otherwise names of nobody are ignored
   * @param mayBlock whether a password may be checked that takes long
   */
  Finding byPassword(
      String authorization, @Nullable Token token, boolean required, boolean mayBlock) {
    UserPassword pair = pair(authorization, token);
    if (pair == null) {
      return new Finding.Nothing();
    }
    Grant known = directory.byKnownPassword(pair.user(), pair.password()).orElse(null);
    if (known != null) {
      return new Finding.Known(caller(known));
    }
    if (!required && !directory.hasPassword(pair.user())) {
      return new Finding.Nothing();
    }
    if (!mayBlock) {
      return new Finding.Unchecked();
    }
    return directory
        .byPassword(pair.user(), pair.password())
        .<Finding>map(grant -> new Finding.Known(caller(grant)))
        .orElseGet(Finding.Wrong::new);
  }

  private @Nullable Caller byText(String text) {
    if (AccessKey.prefixOf(text) != null) {
      return directory
          .byKey(text)
          .map(this::caller)
          .orElseThrow(() ->
              new HttpProblem(
                      401, "this key is not one of this server: it was revoked, or has expired")
                  .withHeader("WWW-Authenticate", "Bearer error=\"invalid_token\"")
                  .ofWrongCredentials());
    }
    if (local.is(text)) {
      return Caller.OWNER;
    }
    return bootstrap.is(text) && bootstrapKey().isPresent() ? BOOTSTRAP : null;
  }

  /**
   * Who has this session.
   *
   * @return null if there is none, or it has ended
   */
  @Nullable Caller bySession(String text) {
    return directory.bySession(text).map(this::caller).orElse(null);
  }

  /** Where principals are looked up. */
  AccessDirectory directory() {
    return directory;
  }

  /** Somebody who has no principal in the store, but belongs to a group with these roles. */
  static Caller outside(String name, GroupRoles.Entry roles) {
    return caller(name, roles.roles(), roles.reach(), Caller.Validity.FOREVER, null);
  }

  private static Caller caller(
      String name, Set<Role> granted, Reach reach, Caller.Validity validity, @Nullable String key) {
    Set<Caller.Role> roles = EnumSet.noneOf(Caller.Role.class);
    granted.forEach(role -> roles.addAll(Caller.Role.valueOf(role.name()).andBelow()));
    return new Caller(
        name,
        roles,
        reach.coversEverything() ? Caller.Reach.EVERYTHING : new Limited(reach),
        validity,
        key);
  }

  private Caller caller(Grant grant) {
    if (!grant.admits(System.nanoTime())) {
      throw new HttpProblem(429, grant.principal() + " makes more requests than its rate allows")
          .withHeader("Retry-After", "1");
    }
    Caller known = callers.get(grant);
    if (known != null) {
      return known;
    }
    Caller caller =
        caller(grant.principal(), grant.roles(), grant.reach(), grant::onEnd, grant.key());
    callers.put(grant, caller);
    var _ = grant.onEnd(() -> callers.remove(grant));
    return caller;
  }

  /** The reach of a principal, as handlers ask for it. */
  public record Limited(Reach reach) implements Caller.Reach {
    @Override
    public boolean coversEverything() {
      return false;
    }

    private Set<String> names(Area area) {
      return switch (area) {
        case GROUPS -> reach.groups();
        case QUEUES -> reach.queues();
        case TYPES -> reach.types();
        case GRAPH -> reach.graph();
        case BLOBS -> reach.blobs();
        case CLUSTER -> reach.cluster();
      };
    }

    @Override
    public boolean includesAny(Area area) {
      return !names(area).isEmpty();
    }

    @Override
    public boolean includes(Area area, String name) {
      Set<String> names = names(area);
      return area == Area.GRAPH
          ? names.contains("") || names.contains(name)
          : Reach.includes(names, name);
    }
  }
}
