package io.millrace.server;

import io.millrace.http.AccessCheck;
import io.millrace.http.Caller;
import io.millrace.http.HttpServer;
import io.millrace.http.message.Head;
import io.millrace.http.message.HttpProblem;
import io.millrace.server.MillraceServer.Setup;
import io.millrace.server.security.Access;
import io.millrace.server.shards.ShardedStore;
import io.millrace.store.StoreException;
import io.millrace.wire.Placement;
import io.millrace.wire.Responses;
import java.net.InetAddress;
import java.security.SecureRandom;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Who is let in at a server that serves shards, but does not lead the one with the principals: it
 * checks callers against the principals that it follows, of no greater age than {@link #OLDEST}.
 * Whom it does not know it looks up again. Thread-safe.
 */
final class FollowedAccess implements AccessCheck {
  /** For how long a revoked key may still be let in. */
  static final Duration OLDEST = Duration.ofSeconds(1);

  /** After this long, somebody unknown is looked up again. */
  private static final Duration UNKNOWN_AGAIN = Duration.ofMillis(100);

  private final FollowedPrincipals principals;
  private final AccessCheck ofAnyone;

  /**
   * The rules of a server.
   *
   * @param principals by strict reads
   * @param ofAnyone the rules for what is open to all
   */
  FollowedAccess(FollowedPrincipals principals, AccessCheck ofAnyone) {
    this.principals = principals;
    this.ofAnyone = ofAnyone;
  }

  /** The rules of a server with the principals of the first shard. */
  static FollowedAccess of(Setup setup, HttpServer.Endpoint endpoint, ShardedStore shards) {
    return new FollowedAccess(
        new FollowedPrincipals(setup, endpoint, shards.shard(Placement.HOME), new SecureRandom()),
        ofAnyone(setup, endpoint));
  }

  /** The rules of a server that knows no principals. */
  static AccessCheck ofAnyone(Setup setup, HttpServer.Endpoint endpoint) {
    return Access.ofStandby(
        endpoint.address(), setup.token(), setup.requiresCredentials(), setup.front());
  }

  @Override
  public @Nullable Caller check(Attempt attempt) {
    if (attempt.route().role() == Caller.Role.ANYONE) {
      return ofAnyone.check(attempt);
    }
    Access known = principals.inMemory(OLDEST);
    if (known == null) {
      return attempt.mayBlock() ? within(OLDEST).check(attempt) : null;
    }
    try {
      return known.check(attempt);
    } catch (HttpProblem problem) {
      boolean mayBeNew = problem.isOfWrongCredentials() || attempt.headers().only("Cookie") != null;
      if (!mayBeNew || principals.inMemory(UNKNOWN_AGAIN) != null) {
        throw problem;
      }
      return attempt.mayBlock() ? within(UNKNOWN_AGAIN).check(attempt) : null;
    }
  }

  private Access within(Duration bound) {
    try {
      return principals.access(bound, () -> Duration.ZERO);
    } catch (StoreException e) {
      throw HttpProblem.unavailable("principals cannot be read now: " + e.getMessage(), 1)
          .withHeader(Responses.ROLE_HEADER, "standby");
    }
  }

  @Override
  public Source sourceOf(InetAddress peer, Head head) {
    return ofAnyone.sourceOf(peer, head);
  }
}
