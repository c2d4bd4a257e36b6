package io.millrace.server.access;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.util.DefaultResourceRetriever;
import com.nimbusds.oauth2.sdk.AuthorizationCode;
import com.nimbusds.oauth2.sdk.AuthorizationCodeGrant;
import com.nimbusds.oauth2.sdk.GeneralException;
import com.nimbusds.oauth2.sdk.ParseException;
import com.nimbusds.oauth2.sdk.ResponseType;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.TokenResponse;
import com.nimbusds.oauth2.sdk.auth.ClientAuthenticationMethod;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.ClientSecretPost;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.http.HTTPRequest;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.id.State;
import com.nimbusds.oauth2.sdk.pkce.CodeChallengeMethod;
import com.nimbusds.oauth2.sdk.pkce.CodeVerifier;
import com.nimbusds.openid.connect.sdk.AuthenticationRequest;
import com.nimbusds.openid.connect.sdk.Nonce;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponse;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponseParser;
import com.nimbusds.openid.connect.sdk.claims.IDTokenClaimsSet;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.validators.IDTokenValidator;
import io.millrace.http.message.HttpProblem;
import io.millrace.server.security.Token;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A provider of identities by OpenID Connect. What it says of itself is read at the first sign-in
 * and again after an hour, so that the server starts without it. Its keys are read again when an ID
 * token names one that is not known. Safe for use by threads.
 */
final class OidcProvider {
  private static final Logger LOG = LoggerFactory.getLogger(OidcProvider.class);
  private static final int TIMEOUT_MILLIS = 5_000;
  private static final int MAX_KEYS_BYTES = 1 << 20;
  private static final int CLOCK_SKEW_SECONDS = 30;
  private static final Duration READ_AGAIN = Duration.ofHours(1);
  private static final Duration TRY_AGAIN = Duration.ofSeconds(1);

  /** Only signatures by a private key: a secret of the client may be known to others. */
  private static final Set<JWSAlgorithm> ALGORITHMS =
      Set.copyOf(
          List.of(
              JWSAlgorithm.RS256,
              JWSAlgorithm.RS384,
              JWSAlgorithm.RS512,
              JWSAlgorithm.PS256,
              JWSAlgorithm.PS384,
              JWSAlgorithm.PS512,
              JWSAlgorithm.ES256,
              JWSAlgorithm.ES384,
              JWSAlgorithm.ES512));

  private final AccessSettings.Oidc settings;
  private final @Nullable Secret secret;
  private final InstantSource clock;
  private volatile @Nullable Description description;

  /** Until when the provider is not asked again after a failure; guarded by the monitor. */
  private Instant failedUntil = Instant.MIN;

  /** What a provider says of itself. */
  private record Description(
      OIDCProviderMetadata metadata, IDTokenValidator validator, Instant read) {}

  /**
   * Somebody who has signed in.
   *
   * @param name how the provider calls the person
   * @param groups to which the person belongs
   */
  record Person(String name, Set<String> groups) {}

  private OidcProvider(AccessSettings.Oidc settings, @Nullable Secret secret, InstantSource clock) {
    this.settings = settings;
    this.secret = secret;
    this.clock = clock;
  }

  /**
   * A provider, which is not asked anything yet.
   *
   * @throws io.millrace.server.ServerException if the secret cannot be read
   */
  static OidcProvider of(AccessSettings.Oidc settings, InstantSource clock) {
    return new OidcProvider(
        settings,
        settings.secretFile() == null ? null : new Secret(Token.text(settings.secretFile())),
        clock);
  }

  /** What people call it. */
  String label() {
    return settings.label();
  }

  /**
   * Where a browser goes to sign in.
   *
   * @param redirect where the provider sends it back to
   * @throws HttpProblem 503 if the provider cannot be reached
   */
  URI authorization(URI redirect, SignInState state) {
    return new AuthenticationRequest.Builder(
            ResponseType.CODE,
            new Scope(settings.scopes().toArray(String[]::new)),
            new ClientID(settings.clientId()),
            redirect)
        .endpointURI(description().metadata().getAuthorizationEndpointURI())
        .state(new State(state.state()))
        .nonce(new Nonce(state.nonce()))
        .codeChallenge(new CodeVerifier(state.verifier()), CodeChallengeMethod.S256)
        .build()
        .toURI();
  }

  /**
   * Checks who says that a browser has signed in.
   *
   * @param issuer null if that is not said
   * @throws HttpProblem 400 if it is another provider
   */
  void checkIssuer(@Nullable String issuer) {
    if (issuer != null && !issuer.equals(settings.issuer().toString())) {
      throw HttpProblem.malformed("this sign-in was made at another provider than " + label());
    }
  }

  /**
   * The person who has signed in with a code.
   *
   * @param redirect as it was when the sign-in began
   * @throws HttpProblem 403 if the code or the ID token is not accepted, 503 if the provider cannot
   *     be reached
   */
  Person redeem(String code, URI redirect, SignInState state) {
    Description known = description();
    try {
      HTTPRequest request = tokenRequest(known.metadata(), code, redirect, state).toHTTPRequest();
      request.setConnectTimeout(TIMEOUT_MILLIS);
      request.setReadTimeout(TIMEOUT_MILLIS);
      request.setFollowRedirects(false);
      TokenResponse response = OIDCTokenResponseParser.parse(request.send());
      if (!(response instanceof OIDCTokenResponse tokens)) {
        throw refused(String.valueOf(response.toErrorResponse().getErrorObject()));
      }
      return person(
          known
              .validator()
              .validate(tokens.getOIDCTokens().getIDToken(), new Nonce(state.nonce())));
    } catch (BadJOSEException | ParseException e) {
      throw refused(String.valueOf(e.getMessage()));
    } catch (KeySourceException | IOException e) {
      throw unreachable(e);
    } catch (JOSEException e) {
      throw refused(String.valueOf(e.getMessage()));
    }
  }

  private HttpProblem refused(String why) {
    LOG.info("a sign-in with {} fails: {}", label(), why);
    return new HttpProblem(403, "the sign-in with %s fails: %s".formatted(label(), why));
  }

  private TokenRequest tokenRequest(
      OIDCProviderMetadata metadata, String code, URI redirect, SignInState state) {
    AuthorizationCodeGrant grant =
        new AuthorizationCodeGrant(
            new AuthorizationCode(code), redirect, new CodeVerifier(state.verifier()));
    URI endpoint = metadata.getTokenEndpointURI();
    ClientID client = new ClientID(settings.clientId());
    if (secret == null) {
      return new TokenRequest.Builder(endpoint, client, grant).build();
    }
    List<ClientAuthenticationMethod> methods = metadata.getTokenEndpointAuthMethods();
    boolean basic =
        methods == null || methods.contains(ClientAuthenticationMethod.CLIENT_SECRET_BASIC);
    return new TokenRequest.Builder(
            endpoint,
            basic ? new ClientSecretBasic(client, secret) : new ClientSecretPost(client, secret),
            grant)
        .build();
  }

  private Person person(IDTokenClaimsSet claims) {
    String claim = settings.nameClaim();
    Object name = claims.getClaim(claim);
    if (!(name instanceof String text)) {
      throw refused("the ID token has no claim %s with a text".formatted(claim));
    }
    if (claim.equals("email") && Boolean.FALSE.equals(claims.getClaim("email_verified"))) {
      throw refused("the provider has not verified the address " + text);
    }
    Set<String> groups = new HashSet<>();
    switch (groups(claims)) {
      case null -> {}
      case String one -> groups.add(one);
      case Collection<?> several -> several.forEach(group -> groups.add(String.valueOf(group)));
      default ->
          throw refused(
              "the claim %s is neither a text nor a list".formatted(settings.groupsClaim()));
    }
    return new Person(text, groups);
  }

  private @Nullable Object groups(IDTokenClaimsSet claims) {
    Object whole = claims.getClaim(settings.groupsClaim());
    if (whole != null) {
      return whole;
    }
    Object value = claims.toJSONObject();
    for (String part : settings.groupsClaim().split("\\.", -1)) {
      value = value instanceof Map<?, ?> fields ? fields.get(part) : null;
    }
    return value;
  }

  private Description description() {
    Description known = description;
    return known == null || isOld(known) ? read() : known;
  }

  private boolean isOld(Description known) {
    return known.read().plus(READ_AGAIN).isBefore(clock.instant());
  }

  private synchronized Description read() {
    Description known = description;
    if (known != null && !isOld(known)) {
      return known;
    }
    Instant now = clock.instant();
    try {
      if (now.isBefore(failedUntil)) {
        throw new IOException("it did not answer just before");
      }
      Description read = ask(now);
      description = read;
      return read;
    } catch (GeneralException | IOException | IllegalArgumentException e) {
      failedUntil = clock.instant().plus(TRY_AGAIN);
      if (known != null) {
        LOG.warn("{} cannot be asked what it offers; what it said before applies", label(), e);
        return known;
      }
      throw unreachable(e);
    }
  }

  private HttpProblem unreachable(Exception cause) {
    LOG.warn(
        "the provider of identities {} does not answer as it should", settings.issuer(), cause);
    return HttpProblem.unavailable(
        "%s cannot be reached for the sign-in: %s".formatted(settings.issuer(), cause.getMessage()),
        5);
  }

  private Description ask(Instant now) throws GeneralException, IOException {
    OIDCProviderMetadata metadata =
        OIDCProviderMetadata.resolve(new Issuer(settings.issuer()), TIMEOUT_MILLIS, TIMEOUT_MILLIS);
    for (URI endpoint :
        List.of(
            metadata.getAuthorizationEndpointURI(),
            metadata.getTokenEndpointURI(),
            metadata.getJWKSetURI())) {
      if (!"https".equals(endpoint.getScheme()) && "https".equals(settings.issuer().getScheme())) {
        throw new GeneralException("it names an address without encryption: " + endpoint);
      }
    }
    return new Description(metadata, validator(metadata), now);
  }

  private IDTokenValidator validator(OIDCProviderMetadata metadata) throws MalformedURLException {
    JWKSource<SecurityContext> keys =
        JWKSourceBuilder.create(
                metadata.getJWKSetURI().toURL(),
                new DefaultResourceRetriever(TIMEOUT_MILLIS, TIMEOUT_MILLIS, MAX_KEYS_BYTES))
            .rateLimited(1_000)
            .build();
    Set<JWSAlgorithm> algorithms = new LinkedHashSet<>(ALGORITHMS);
    List<JWSAlgorithm> offered = metadata.getIDTokenJWSAlgs();
    if (offered != null) {
      algorithms.retainAll(offered);
    }
    if (algorithms.isEmpty()) {
      throw new IllegalArgumentException("it signs ID tokens by no algorithm that is accepted");
    }
    IDTokenValidator validator =
        new IDTokenValidator(
            new Issuer(settings.issuer()),
            new ClientID(settings.clientId()),
            new JWSVerificationKeySelector<>(algorithms, keys),
            null);
    validator.setMaxClockSkew(CLOCK_SKEW_SECONDS);
    return validator;
  }
}
