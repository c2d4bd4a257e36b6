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
import io.millrace.server.security.ConfiguredPrincipal;
import io.millrace.server.security.Principals;
import io.millrace.store.TaskStore;
import java.time.InstantSource;
import java.util.List;
import java.util.random.RandomGenerator;

/** The principals of a server, with their routes under {@code /access}. */
public final class AccessPart implements Part {
  private final AccessDirectory directory;
  private final AccessRegistry registry;
  private final Principals principals;
  private List<ConfiguredPrincipal> configured = List.of();

  private AccessPart(AccessDirectory directory, AccessRegistry registry, Principals principals) {
    this.directory = directory;
    this.registry = registry;
    this.principals = principals;
  }

  /**
   * Reads the principals of a store.
   *
   * @param random secret and unpredictable; used under its own lock
   */
  public static AccessPart open(TaskStore store, RandomGenerator random) {
    InstantSource clock = InstantSource.system();
    AccessDirectory directory = AccessDirectory.open(store, clock, random);
    return new AccessPart(
        directory,
        new AccessRegistry(store, clock, random, directory),
        new Principals(directory, clock, random));
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
    return new AccessRoutes(registry, configured).routes();
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
