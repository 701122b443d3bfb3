package management

import apierrors "k8s.io/apimachinery/pkg/api/errors"

// isVerdict says whether the API server looked at a request and refused it for good.
func isVerdict(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) ||
		apierrors.IsMethodNotSupported(err) || apierrors.IsRequestEntityTooLargeError(err)
}
