package io.millrace.server.access;

import io.millrace.access.AccessDirectory;
import io.millrace.access.AccessException;
import io.millrace.access.AccessException.AccessConflictException;
import io.millrace.access.AccessException.InvalidAccessException;
import io.millrace.access.AccessException.UnknownPrincipalException;
import io.millrace.access.AccessRegistry;
import io.millrace.http.ErrorResponses;
import io.millrace.http.Route;
import io.millrace.server.Part;
import io.millrace.server.ServerException;
import io.millrace.server.security.ConfiguredPrincipal;
import io.millrace.server.security.Principals;
import io.millrace.server.security.SessionCookies;
import io.millrace.store.TaskStore;
import java.net.URI;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The principals of a server, with their routes under {@code /access}. */
public final class AccessPart implements Part {
  private final AccessDirectory directory;
  private final AccessRegistry registry;
  private final Principals principals;
  private final SessionRoutes sessions;
  private final AccessSettings.@Nullable Oidc oidc;
  private final SignInRoutes signIn;
  private List<ConfiguredPrincipal> configured = List.of();

  private AccessPart(
      TaskStore store,
      RandomGenerator random,
      AccessSettings settings,
      Published published,
      String localKey) {
    InstantSource clock = InstantSource.system();
    this.directory = AccessDirectory.open(store, clock, random, settings.rules());
    this.registry = new AccessRegistry(store, clock, random, directory);
    this.principals = new Principals(directory, clock, random, localKey);
    this.sessions = new SessionRoutes(registry, published.cookies(), settings.session());
    this.oidc = settings.oidc();
    this.signIn =
        new SignInRoutes(
            new SignInRoutes.Sources(random, clock),
            oidc == null ? null : OidcProvider.of(oidc, clock),
            directory,
            sessions,
            published);
  }

  /**
   * How browsers reach the server.
   *
   * @param cookies their cookies
   * @param url under which they reach it; null if that is the address of each request
   */
  public record Published(SessionCookies cookies, @Nullable URI url) {}

  /**
   * Reads the principals of a store.
   *
   * @param random secret and unpredictable; used under its own lock
   * @param localKey that of this process, see {@link Principals#newLocalKey}
   * @throws ServerException if the secret for the provider of identities cannot be read
   */
  public static AccessPart open(
      TaskStore store,
      RandomGenerator random,
      AccessSettings settings,
      Published published,
      String localKey) {
    return new AccessPart(store, random, settings, published, localKey);
  }

  /** Which principal shows which credentials. */
  public Principals principals() {
    return principals;
  }

  /** Sets the principals that are configured, to be listed with the others. */
  public void configured(List<ConfiguredPrincipal> given) {
    configured = List.copyOf(given);
  }

  @Override
  public List<Route> routes() {
    List<Route> routes =
        new ArrayList<>(
            new AccessRoutes(registry, configured, sessions, oidc == null ? null : oidc.label())
                .routes());
    routes.addAll(sessions.routes());
    routes.addAll(signIn.routes());
    return routes;
  }

  @Override
  public void addErrorResponses(ErrorResponses responses) {
    responses
        .add(InvalidAccessException.class, 400)
        .add(UnknownPrincipalException.class, 404)
        .add(AccessConflictException.class, 409)
        .addUnavailable(AccessException.class);
  }

  @Override
  public List<Activity> activities() {
    return List.of(new Activity("access-expiry", directory::step));
  }
}
