package io.millrace.server.access;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWT;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.oauth2.sdk.AuthorizationCode;
import com.nimbusds.oauth2.sdk.AuthorizationCodeGrant;
import com.nimbusds.oauth2.sdk.AuthorizationSuccessResponse;
import com.nimbusds.oauth2.sdk.OAuth2Error;
import com.nimbusds.oauth2.sdk.ParseException;
import com.nimbusds.oauth2.sdk.TokenErrorResponse;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.TokenResponse;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.http.HTTPRequest;
import com.nimbusds.oauth2.sdk.http.HTTPResponse;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.pkce.CodeChallenge;
import com.nimbusds.oauth2.sdk.token.BearerAccessToken;
import com.nimbusds.openid.connect.sdk.AuthenticationRequest;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponse;
import com.nimbusds.openid.connect.sdk.SubjectType;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.token.OIDCTokens;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/**
 * A provider of identities by OpenID Connect, on a free port: everybody who comes is signed in as
 * one person. It demands PKCE and its client's secret, and a code counts once.
 */
final class IdentityProvider implements AutoCloseable {
  static final String CLIENT = "millrace";
  static final String SECRET = "a-secret-of-the-client";

  private final HttpServer server;
  private final Map<String, AuthenticationRequest> codes = new ConcurrentHashMap<>();
  private volatile RSAKey key = newKey("first");
  private volatile UnaryOperator<JWTClaimsSet.Builder> claims = given -> given;
  private volatile boolean signed = true;

  IdentityProvider() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.createContext("/.well-known/openid-configuration", this::describe);
    server.createContext(
        "/keys", exchange -> answer(exchange, 200, new JWKSet(key.toPublicJWK()).toString()));
    server.createContext("/authorize", this::authorize);
    server.createContext("/token", this::token);
    server.start();
  }

  private static RSAKey newKey(String id) {
    try {
      return new RSAKeyGenerator(2048).keyID(id).generate();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  String issuer() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Changes the claims of ID tokens from now on. */
  void change(UnaryOperator<JWTClaimsSet.Builder> change) {
    claims = change;
  }

  /** Issues ID tokens without a signature from now on. */
  void signNothing() {
    signed = false;
  }

  /** Signs by another key from now on. */
  void rotateKey() {
    key = newKey("second");
  }

  private void describe(HttpExchange exchange) throws IOException {
    OIDCProviderMetadata metadata =
        new OIDCProviderMetadata(
            new Issuer(issuer()), List.of(SubjectType.PUBLIC), URI.create(issuer() + "/keys"));
    metadata.setAuthorizationEndpointURI(URI.create(issuer() + "/authorize"));
    metadata.setTokenEndpointURI(URI.create(issuer() + "/token"));
    metadata.setIDTokenJWSAlgs(List.of(JWSAlgorithm.RS256));
    answer(exchange, 200, metadata.toString());
  }

  private void authorize(HttpExchange exchange) throws IOException {
    try {
      AuthenticationRequest request =
          AuthenticationRequest.parse(URI.create(issuer() + exchange.getRequestURI()));
      AuthorizationCode code = new AuthorizationCode();
      codes.put(code.getValue(), request);
      URI back =
          new AuthorizationSuccessResponse(
                  request.getRedirectionURI(), code, null, request.getState(), null)
              .toURI();
      exchange.getResponseHeaders().set("Location", back.toString());
      answer(exchange, 302, "");
    } catch (ParseException e) {
      answer(exchange, 400, String.valueOf(e.getMessage()));
    }
  }

  private void token(HttpExchange exchange) throws IOException {
    TokenResponse response;
    try {
      HTTPRequest request =
          new HTTPRequest(HTTPRequest.Method.POST, new URI(issuer() + exchange.getRequestURI()));
      request.setHeader("Authorization", exchange.getRequestHeaders().getFirst("Authorization"));
      request.setHeader("Content-Type", exchange.getRequestHeaders().getFirst("Content-Type"));
      request.setBody(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
      response = redeem(TokenRequest.parse(request));
    } catch (ParseException | URISyntaxException | JOSEException e) {
      response = new TokenErrorResponse(OAuth2Error.INVALID_REQUEST);
    }
    HTTPResponse http = response.toHTTPResponse();
    answer(exchange, http.getStatusCode(), String.valueOf(http.getBody()));
  }

  private TokenResponse redeem(TokenRequest request) throws JOSEException {
    boolean known =
        request.getClientAuthentication() instanceof ClientSecretBasic basic
            && basic.getClientID().getValue().equals(CLIENT)
            && basic.getClientSecret().getValue().equals(SECRET);
    if (!known) {
      return new TokenErrorResponse(OAuth2Error.INVALID_CLIENT);
    }
    AuthorizationCodeGrant grant = (AuthorizationCodeGrant) request.getAuthorizationGrant();
    AuthenticationRequest begun = codes.remove(grant.getAuthorizationCode().getValue());
    boolean fits =
        begun != null
            && begun.getRedirectionURI().equals(grant.getRedirectionURI())
            && grant.getCodeVerifier() != null
            && CodeChallenge.compute(begun.getCodeChallengeMethod(), grant.getCodeVerifier())
                .equals(begun.getCodeChallenge());
    if (!fits || begun == null) {
      return new TokenErrorResponse(OAuth2Error.INVALID_GRANT);
    }
    return new OIDCTokenResponse(new OIDCTokens(idToken(begun), new BearerAccessToken(), null));
  }

  private JWT idToken(AuthenticationRequest begun) throws JOSEException {
    Instant now = Instant.now();
    JWTClaimsSet set =
        claims
            .apply(
                new JWTClaimsSet.Builder()
                    .issuer(issuer())
                    .audience(CLIENT)
                    .subject("anna")
                    .claim("groups", List.of("staff"))
                    .claim("nonce", begun.getNonce().getValue())
                    .issueTime(Date.from(now))
                    .expirationTime(Date.from(now.plusSeconds(300))))
            .build();
    if (!signed) {
      return new PlainJWT(set);
    }
    SignedJWT token =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.RS256)
                .type(JOSEObjectType.JWT)
                .keyID(key.getKeyID())
                .build(),
            set);
    token.sign(new RSASSASigner(key));
    return token;
  }

  private static void answer(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
