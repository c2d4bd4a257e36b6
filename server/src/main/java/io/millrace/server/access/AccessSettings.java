package io.millrace.server.access;

import io.millrace.access.AccessDirectory.SessionRules;
import io.millrace.access.AccessException.InvalidAccessException;
import io.millrace.access.GroupRoles;
import io.millrace.access.Reach;
import io.millrace.access.Role;
import io.millrace.server.config.Configuration.Section;
import io.millrace.server.config.Configuration.Values;
import io.millrace.server.config.ConfigurationException;
import io.millrace.server.config.Key;
import io.millrace.server.config.SectionKeys;
import io.millrace.server.security.IdentityHeader;
import io.millrace.server.security.IdentityHeader.Network;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The settings of sessions, and of people who sign in elsewhere.
 *
 * @param session for how long a session may last
 * @param rules what sessions give
 * @param oidc the provider of identities; null for none
 * @param identity the headers in which a proxy names people; null for none
 */
public record AccessSettings(
    Duration session, SessionRules rules, @Nullable Oidc oidc, @Nullable IdentityHeader identity) {
  private static final SectionKeys KEYS = new SectionKeys();
  private static final Pattern HEADER = Pattern.compile("[A-Za-z0-9-]{1,64}");
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");
  private static final Key<Duration> SESSION =
      KEYS.duration(
          "session",
          Duration.ofMinutes(1),
          Duration.ofDays(365),
          Duration.ofHours(12),
          "How long a session of a browser lasts after the sign-in.");
  private static final Key<Duration> SESSION_IDLE =
      KEYS.duration(
          "session-idle",
          Duration.ofMinutes(1),
          Duration.ofDays(365),
          SessionRules.DEFAULT.idle(),
          "How long a session may go unused before it ends.");
  private static final Key<@Nullable String> GROUP =
      KEYS.optionalText(
          "roles.NAME.group",
          "A group of the provider of identities, or of the proxy, whose members get the roles of"
              + " this entry; `*` means everybody who can sign in there. Default: NAME itself. The"
              + " first entry to whose group somebody belongs applies, alone.");
  private static final Key<Set<Role>> ROLES =
      KEYS.add(
          new Key<>(
              "roles.NAME.roles",
              "roles, separated by commas: viewer, submitter, operator, admin, worker",
              Set.of(),
              "none",
              "The roles of the members of that group.",
              AccessSettings::roles));
  private static final Key<Set<String>> GROUPS = reach("groups", "groups of the store");
  private static final Key<Set<String>> QUEUES = reach("queues", "queues");
  private static final Key<Set<String>> TYPES = reach("types", "job types");
  private static final Key<Set<String>> BLOBS = reach("blobs", "blobs");
  private static final Key<Set<String>> CLUSTER =
      reach("cluster", "locks, permits, partitions and reports of the cluster");
  private static final Key<Set<String>> GRAPH =
      KEYS.add(
          new Key<>(
              "roles.NAME.graph",
              "ids of nodes, separated by commas",
              Set.of(),
              "none",
              "The graph nodes to which those roles are limited, with what is below them.",
              text -> checked(text, set -> new Reach(Set.of(), Set.of(), Set.of(), set).graph())));
  private static final Key<@Nullable String> ISSUER =
      KEYS.add(
          new Key<@Nullable String>(
              "oidc.issuer",
              "an https URL (http only on this machine)",
              null,
              "none",
              "The issuer of a provider of identities by OpenID Connect, as it calls itself, for"
                  + " example `https://login.example.com/realms/main`. With it people can sign in"
                  + " there, and every caller needs credentials; see docs/access.md.",
              AccessSettings::issuer));
  private static final Key<@Nullable String> CLIENT_ID =
      KEYS.optionalText("oidc.client-id", "The id under which the provider knows this server.");
  private static final Key<@Nullable Path> CLIENT_SECRET =
      KEYS.optionalPath(
          "oidc.client-secret-file",
          "A file with the secret that the provider gave this server; none for a public client.");
  private static final Key<Set<String>> SCOPES =
      KEYS.add(
          new Key<>(
              "oidc.scopes",
              "names, separated by commas",
              list("openid,profile,email"),
              "`openid,profile,email`",
              "What the server asks the provider for; `openid` is always among it.",
              AccessSettings::list));
  private static final Key<String> GROUPS_CLAIM =
      KEYS.text(
          "oidc.groups-claim",
          "groups",
          "The claim of the ID token with the groups of a person: a text or a list of texts. Dots"
              + " lead into objects, as in `realm_access.roles`.");
  private static final Key<String> NAME_CLAIM =
      KEYS.text(
          "oidc.name-claim",
          "sub",
          "The claim of the ID token that names a person, for example `email` or"
              + " `preferred_username`, if the provider never gives one name to two people.");
  private static final Key<@Nullable String> LABEL =
      KEYS.optionalText(
          "oidc.label",
          "What the dashboard calls the provider: \"Sign in with …\". Default: its host.");
  private static final Key<@Nullable String> PROXY_HEADER =
      header(
          "proxy-header",
          "The header in which a proxy that signs people in says who it is, for example"
              + " `X-Forwarded-User`. With it every caller needs credentials. The proxy must"
              + " remove this header from the requests of its clients.");
  private static final Key<@Nullable String> PROXY_GROUPS =
      header(
          "proxy-groups-header",
          "The header in which that proxy says to which groups the person belongs, separated by"
              + " commas.");
  private static final Key<List<Network>> PROXY_ADDRESSES =
      KEYS.add(
          new Key<>(
              "proxy-addresses",
              "IP addresses or networks, separated by commas",
              List.of(),
              "none",
              "The addresses of that proxy, for example `10.0.0.7,10.1.0.0/16`; required with"
                  + " `access.proxy-header`. A request with the header from elsewhere is refused.",
              Network::read));

  /** The section {@code access}. */
  public static final Section<AccessSettings> SECTION = KEYS.section("access", AccessSettings::of);

  /**
   * A provider of identities.
   *
   * @param issuer as it calls itself
   * @param clientId under which it knows this server
   * @param secretFile with the secret for it; null for a public client
   * @param scopes what the server asks for
   * @param groupsClaim the claim with the groups of a person
   * @param nameClaim the claim that names a person
   * @param label what the dashboard calls the provider
   */
  public record Oidc(
      URI issuer,
      String clientId,
      @Nullable Path secretFile,
      Set<String> scopes,
      String groupsClaim,
      String nameClaim,
      String label) {}

  /** Whether people sign in elsewhere, so that every caller needs credentials. */
  public boolean requiresCredentials() {
    return oidc != null || identity != null;
  }

  private static Key<Set<String>> reach(String name, String what) {
    return KEYS.add(
        new Key<>(
            "roles.NAME." + name,
            "prefixes, separated by commas",
            Set.of(),
            "none",
            "Prefixes of the names of "
                + what
                + " to which those roles are limited. An entry without any of `groups`, `queues`,"
                + " `types`, `graph`, `blobs` and `cluster` has no limit.",
            text -> checked(text, set -> new Reach(set, Set.of(), Set.of(), Set.of()).groups())));
  }

  private static Key<@Nullable String> header(String name, String meaning) {
    return KEYS.add(
        new Key<@Nullable String>(
            name,
            "the name of a header",
            null,
            "none",
            meaning,
            text -> {
              if (!text.isEmpty() && !HEADER.matcher(text).matches()) {
                throw new IllegalArgumentException(text);
              }
              return text.isEmpty() ? null : text;
            }));
  }

  private static Set<String> list(String text) {
    return Arrays.stream(text.split(",", -1))
        .map(String::strip)
        .filter(each -> !each.isEmpty())
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  private static Set<String> checked(String text, Function<Set<String>, Set<String>> check) {
    try {
      return check.apply(list(text));
    } catch (InvalidAccessException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static Set<Role> roles(String text) {
    try {
      return list(text).stream().map(Role::of).collect(Collectors.toSet());
    } catch (InvalidAccessException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static @Nullable String issuer(String text) {
    if (text.isEmpty()) {
      return null;
    }
    try {
      URI issuer = new URI(text);
      String host = issuer.getHost();
      String scheme = String.valueOf(issuer.getScheme()).toLowerCase(Locale.ROOT);
      boolean encrypted = scheme.equals("https");
      if (host == null
          || issuer.getRawQuery() != null
          || issuer.getRawFragment() != null
          || !(encrypted || (scheme.equals("http") && LOOPBACK.contains(host)))) {
        throw new IllegalArgumentException(text);
      }
      return text;
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static AccessSettings of(Values values) {
    return new AccessSettings(
        values.get(SESSION),
        new SessionRules(values.get(SESSION_IDLE), groupRoles(values)),
        oidc(values),
        identity(values));
  }

  private static GroupRoles groupRoles(Values values) {
    Set<String> names = new LinkedHashSet<>();
    for (Key<?> key : List.of(GROUP, ROLES, GROUPS, QUEUES, TYPES, GRAPH, BLOBS, CLUSTER)) {
      names.addAll(values.names(key));
    }
    List<GroupRoles.Entry> entries = new ArrayList<>();
    for (String name : names) {
      Set<Role> roles = values.get(ROLES, name);
      if (roles.isEmpty()) {
        throw new ConfigurationException("access.roles." + name + ".roles must name a role");
      }
      String group = values.get(GROUP, name);
      entries.add(new GroupRoles.Entry(group == null ? name : group, roles, reach(values, name)));
    }
    return new GroupRoles(entries);
  }

  private static Reach reach(Values values, String name) {
    Reach reach =
        new Reach(
            values.get(GROUPS, name),
            values.get(QUEUES, name),
            values.get(TYPES, name),
            values.get(GRAPH, name),
            values.get(BLOBS, name),
            values.get(CLUSTER, name));
    return reach.equals(Reach.NOTHING) ? Reach.EVERYTHING : reach;
  }

  private static @Nullable Oidc oidc(Values values) {
    String issuer = values.get(ISSUER);
    String clientId = values.get(CLIENT_ID);
    if (issuer == null) {
      if (clientId != null) {
        throw new ConfigurationException("access.oidc.client-id needs access.oidc.issuer");
      }
      return null;
    }
    if (clientId == null) {
      throw new ConfigurationException("access.oidc.issuer needs access.oidc.client-id");
    }
    URI uri = URI.create(issuer);
    String label = values.get(LABEL);
    Set<String> scopes = new LinkedHashSet<>(Set.of("openid"));
    scopes.addAll(values.get(SCOPES));
    return new Oidc(
        uri,
        clientId,
        values.get(CLIENT_SECRET),
        scopes,
        values.get(GROUPS_CLAIM),
        values.get(NAME_CLAIM),
        label == null ? uri.getHost() : label);
  }

  private static @Nullable IdentityHeader identity(Values values) {
    String header = values.get(PROXY_HEADER);
    List<Network> networks = values.get(PROXY_ADDRESSES);
    if (header == null) {
      if (values.get(PROXY_GROUPS) != null || !networks.isEmpty()) {
        throw new ConfigurationException(
            "access.proxy-groups-header and access.proxy-addresses need access.proxy-header");
      }
      return null;
    }
    if (networks.isEmpty()) {
      throw new ConfigurationException(
          "access.proxy-header needs access.proxy-addresses: anybody else could send it too");
    }
    return new IdentityHeader(header, values.get(PROXY_GROUPS), networks);
  }
}
