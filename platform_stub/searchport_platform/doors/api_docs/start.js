// Shows /openapi.json. validatorUrl: null keeps the page from sending the address to a validator of the vendor's.
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
  tryItOutEnabled: true,
});
